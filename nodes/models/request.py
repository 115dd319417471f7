"""One request to a model and its answer, which must be whole, streamed if there is a listener."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall
from langchain_core.messages.tool import ToolCallChunk, invalid_tool_call, tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from nodes.errors import BadResponse, RequestRefused, ResponseCut
from nodes.limits.nesting import MAX_STORABLE_LEVELS, is_nested_too_deeply
from nodes.models.json_reading import ENCODED_TWICE, decode_arguments, is_encoded_twice
from nodes.models.reply_stream import RunOnWatch

ChunkListener = Callable[[ChatGenerationChunk], None]
FINISHED_REASONS = {"stop", "stop_sequence", "end_turn", "complete", "eos", "eos_token"} | {
    "tool_calls",
    "tool_use",
    "tool_call",
    "function_call",
}
LENGTH_LIMIT_REASONS = {"length", "max_tokens", "model_length", "max_output_tokens"}
CONTENT_FILTER_REASONS = {
    "content_filter",
    "content_filtered",
    "safety",
    "refusal",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "guardrail_intervened",
}
MAX_TOOL_CALLS = 128
"""Limit for one answer; a worker runs eight of them and refuses each of the others."""
BATCH_CHUNKS = 256
EMPTY_VALUES = ("", "null", "[]", '""')
ABSENT = "absent"
"""The finish reason of a stream that ended without one."""
_END_ADVICE = (
    "try again; a server or client that never names one must end with finish_reason stop, "
    "in LangChain's messages a key of response_metadata"
)
_REASON_KEYS = ("finish_reason", "stop_reason", "stopReason", "done_reason")


async def send_request(
    inner: BaseChatModel,
    messages: list[BaseMessage],
    *,
    is_streaming: bool,
    on_chunk: ChunkListener | None = None,
    watch: RunOnWatch | None = None,
    stop: list[str] | None,
    run_manager: AsyncCallbackManagerForLLMRun | None,
    **kwargs: Any,
) -> ChatResult:
    """Send one request; the client's errors are not translated.

    Args:
        is_streaming: request a stream even without a listener for tokens.
        on_chunk: called with each part of the stream; it also requests one.
        watch: says where a stream is left, as its value is complete and it runs on. Such a reply
            has no usage.
    """
    has_listener = run_manager is not None and any(
        isinstance(handler, _StreamingCallbackHandler) for handler in run_manager.handlers
    )
    can_stream = type(inner)._astream is not BaseChatModel._astream
    if not can_stream or not (has_listener or is_streaming or on_chunk):
        kwargs.pop("stream_usage", None)
        return await inner._agenerate(messages, stop=stop, **kwargs)
    stream = inner._astream(messages, stop=stop, **kwargs)
    return await collect_stream(_notify_listeners(stream, run_manager, on_chunk, watch))


async def _notify_listeners(
    stream: AsyncIterator[ChatGenerationChunk],
    run_manager: AsyncCallbackManagerForLLMRun | None,
    on_chunk: ChunkListener | None,
    watch: RunOnWatch | None,
) -> AsyncIterator[ChatGenerationChunk]:
    async for chunk in stream:
        if run_manager is not None:
            if chunk.message.id is None:
                chunk.message.id = f"lc_run--{run_manager.run_id}"
            await run_manager.on_llm_new_token(str(chunk.message.text), chunk=chunk)
        if on_chunk is not None:
            on_chunk(chunk)
        yield chunk
        if watch and watch.is_over(str(chunk.message.text)):
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
            reason = "length" if watch.is_repeated else "stop"
            end = AIMessageChunk(content="", response_metadata={"finish_reason": reason})
            yield ChatGenerationChunk(message=end)
            return


def require_end(
    result: ChatResult, model: str, *, needs_reason: bool = True
) -> tuple[AIMessage, str]:
    """Return the message of a finished answer, and its finish reason.

    The message may still be unusable.

    Args:
        needs_reason: False for a client that may return a whole message without one.

    Raises:
        ResponseCut: the answer has no finish reason, and is a stream or needs one.
        BadResponse: there is no message.
    """
    if not result.generations or not isinstance(result.generations[0].message, AIMessage):
        raise BadResponse(f"{model} sent no message")
    message = result.generations[0].message
    reason = _read_finish_reason(result.generations[0])
    reason = reason or _find_reason(result.llm_output or {})  # where Anthropic's client has it
    word = str(reason or (ABSENT if needs_reason else "stop")).lower()
    if word not in FINISHED_REASONS | CONTENT_FILTER_REASONS | LENGTH_LIMIT_REASONS:
        remedy = _END_ADVICE if word == ABSENT else ""
        what = f"the answer of {model} has no end"
        raise ResponseCut(what, cause=f"finish reason {word}", next=remedy)
    metadata = {
        **(result.llm_output or {}),
        **(result.generations[0].generation_info or {}),
        **message.response_metadata,
    }
    calls = _assign_call_ids(message.tool_calls)
    return message.model_copy(update={"response_metadata": metadata, "tool_calls": calls}), word


def require_usable(message: AIMessage, reason: str, model: str) -> None:
    """Raise an error for a finished answer that cannot be used.

    Raises:
        ResponseCut: it reached the length limit.
        RequestRefused: a content filter removed it.
        BadResponse: it is empty, has only tool calls with unreadable arguments, or has too many
            tool calls.
    """
    if reason in CONTENT_FILTER_REASONS:
        raise RequestRefused(f"a content filter removed the answer of {model}", cause=reason)
    if reason in LENGTH_LIMIT_REASONS:
        calls = [str(call.get("args") or "") for call in message.invalid_tool_calls]
        raise ResponseCut(
            f"the answer of {model} was cut",
            said="\n".join([str(message.text), *calls]).strip(),
            cause="length limit",
            next="allow longer answers (setting: SUPERVISE_MAX_OUTPUT_TOKENS), ask for less, or "
            "name another model",
        )
    if len(message.tool_calls) + len(message.invalid_tool_calls) > MAX_TOOL_CALLS:
        raise BadResponse(f"{model} made more than {MAX_TOOL_CALLS} tool calls in one answer")
    for called in message.tool_calls:
        if is_nested_too_deeply(called["args"], MAX_STORABLE_LEVELS):
            name = called["name"]
            what = f"{model} called {name} with arguments that are nested too deeply"
            raise BadResponse(what, said=name)
    if message.invalid_tool_calls and not message.tool_calls:
        call = message.invalid_tool_calls[0]
        arguments = str(call.get("args") or "")
        raise BadResponse(
            f"{model} called {call.get('name') or 'a tool'} with arguments that are not JSON",
            cause=arguments[:80],
            said=arguments,
        )
    if not message.tool_calls and not message.text.strip():
        raise BadResponse(f"{model} gave an empty answer")


def was_cut(message: AIMessage) -> bool:
    """Return whether an answer reached its limit of tokens."""
    reason = _find_reason(message.response_metadata)
    return str(reason or "").lower() in LENGTH_LIMIT_REASONS


async def collect_stream(stream: AsyncIterator[ChatGenerationChunk]) -> ChatResult:
    """Return a stream as one result; incomplete tool arguments become invalid calls.

    The time is linear in its length: LangChain's sum of two chunks copies the text and parses all
    arguments again, so chunks are added in batches and arguments are collected separately.
    """
    total: ChatGenerationChunk | None = None
    batch: list[ChatGenerationChunk] = []
    calls: list[_StreamedCall] = []
    reason: Any = None
    async for chunk in stream:
        reason = _read_finish_reason(chunk) or reason
        batch.append(_split_off_calls(chunk, calls))
        if len(batch) == BATCH_CHUNKS:
            total, batch = _add_chunks(total, batch), []
            await asyncio.sleep(0)  # a burst of chunks must not delay a deadline
    total = _add_chunks(total, batch)
    if total is None or not isinstance(total.message, AIMessageChunk):
        return ChatResult(generations=[])
    reason = reason or ("stop" if total.message.chunk_position == "last" else ABSENT)
    metadata = {**total.message.response_metadata, **(total.generation_info or {})}
    if twice := [call.name for call in calls if is_encoded_twice(call.text)]:
        metadata[ENCODED_TWICE] = twice
    message = AIMessage(
        content=total.message.content,
        additional_kwargs=total.message.additional_kwargs,
        response_metadata={**metadata, "finish_reason": reason},
        id=total.message.id,
        usage_metadata=total.message.usage_metadata,
        **_parse_tool_calls(calls),
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


@dataclass
class _StreamedCall:
    """A tool call whose arguments are still coming."""

    index: Any
    id: str | None = None
    names: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The tool's name, as far as it has come."""
        return "".join(self.names)

    @property
    def text(self) -> str:
        """The arguments, as far as they have come."""
        return "".join(self.arguments)

    def is_continued_by(self, chunk: ToolCallChunk) -> bool:
        """Return whether a chunk continues this call, by the rule of LangChain's own sum."""
        is_numbered = isinstance(self.index, int) and self.index == chunk["index"]
        return is_numbered and (not self.id or not chunk["id"] or self.id == chunk["id"])


def _split_off_calls(chunk: ChatGenerationChunk, calls: list[_StreamedCall]) -> ChatGenerationChunk:
    """Move a chunk's tool calls to the list, which stops at one above the limit."""
    message = chunk.message
    if not isinstance(message, AIMessageChunk) or not message.tool_call_chunks:
        return chunk
    for part in message.tool_call_chunks:
        call = next((call for call in calls if call.is_continued_by(part)), None)
        if call is None:
            if len(calls) > MAX_TOOL_CALLS:
                continue
            call = _StreamedCall(part["index"])
            calls.append(call)
        call.id = call.id or part["id"]
        call.names.append(part["name"] or "")
        call.arguments.append(part["args"] or "")
    bare: dict[str, Any] = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": []}
    return chunk.model_copy(update={"message": message.model_copy(update=bare)})


def _add_chunks(
    total: ChatGenerationChunk | None, batch: list[ChatGenerationChunk]
) -> ChatGenerationChunk | None:
    if total is None:
        return batch[0] + batch[1:] if batch else None
    return total + batch


def _parse_tool_calls(calls: Sequence[_StreamedCall]) -> dict[str, Any]:
    valid, broken = [], []
    for call in calls:
        name, text = call.name, call.text
        # As in a reply that is not streamed, empty values are no arguments.
        arguments = {} if text.strip() in EMPTY_VALUES else decode_arguments(text)
        if name and arguments is not None:
            valid.append(tool_call(name=name, args=arguments, id=call.id))
        else:
            why = "arguments are not a JSON object"
            broken.append(invalid_tool_call(name=name, args=text, id=call.id, error=why))
    return {"tool_calls": valid, "invalid_tool_calls": broken}


def _assign_call_ids(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return each call an id of its own where an endpoint gave none, or the same to several."""
    taken, named = set[str](), list[ToolCall]()
    for call in calls:
        name = call["id"]
        if not name or name in taken:
            name = f"call_{uuid4().hex}"
        taken.add(name)
        named.append({**call, "id": name})
    return named


def _read_finish_reason(generation: ChatGeneration) -> Any:
    metadata = generation.message.response_metadata
    return _find_reason(generation.generation_info or {}) or _find_reason(metadata)


def _find_reason(metadata: Mapping[str, Any]) -> Any:
    if reason := next((metadata[key] for key in _REASON_KEYS if metadata.get(key)), None):
        return reason
    cut = metadata.get("incomplete_details")  # this and the status are of OpenAI's Responses
    status = "stop" if metadata.get("status") == "completed" else None
    return cut.get("reason") if isinstance(cut, Mapping) else status
