"""Tell a whole answer from a part of one, and a part from nothing."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from nodes.errors import BadResponse, RequestRefused, ResponseCut

FINISHED = {"stop", "stop_sequence", "end_turn", "complete", "eos", "eos_token"} | {
    "tool_calls",
    "tool_use",
    "tool_call",
    "function_call",
}
CUT = {"length", "max_tokens", "model_length", "max_output_tokens"}
REFUSED = {"content_filter", "content_filtered", "safety", "refusal", "recitation", "blocklist"} | {
    "prohibited_content",
    "spii",
    "guardrail_intervened",
}
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")


def ended(result: ChatResult, who: str) -> tuple[AIMessage, str]:
    """Give the message of an answer that has an end, and why it ended.

    What it says may still be of no use.

    Raises:
        ResponseCut: the answer has no end.
        BadResponse: there is no message.
    """
    if not result.generations or not isinstance(result.generations[0].message, AIMessage):
        raise BadResponse(f"{who} gave no message")
    message = result.generations[0].message
    word = str(_reason(result.generations[0], message) or "").lower()
    if word not in FINISHED | REFUSED | CUT:
        cause = f"finish reason {word or 'absent'}"
        raise ResponseCut(f"the answer of {who} has no end", cause=cause)
    noted = {
        **(result.llm_output or {}),
        **(result.generations[0].generation_info or {}),
        **message.response_metadata,
    }
    return message.model_copy(update={"response_metadata": noted}), word


def require_use(message: AIMessage, reason: str, who: str) -> None:
    """Refuse an answer that came and cannot be used.

    Raises:
        ResponseCut: it hit the length limit.
        RequestRefused: a content filter took it.
        BadResponse: it says nothing, or calls tools with nothing but unreadable arguments.
    """
    if reason in REFUSED:
        raise RequestRefused(f"a content filter took the answer of {who}", cause=reason)
    if reason in CUT:
        remedy = "ask for less, or name a model that may answer at greater length"
        raise ResponseCut(f"the answer of {who} was cut", cause="length limit", next=remedy)
    if message.invalid_tool_calls and not message.tool_calls:
        call = message.invalid_tool_calls[0]
        said = str(call.get("args") or "")
        raise BadResponse(
            f"{who} called {call.get('name') or 'a tool'} with arguments that are not JSON",
            cause=said[:80],
            said=said,
        )
    if not message.tool_calls and not message.text.strip():
        raise BadResponse(f"{who} gave an empty answer")


async def gathered(stream: AsyncIterator[ChatGenerationChunk]) -> ChatResult:
    """Put a stream together; its tool arguments count only when they are whole."""
    total: ChatGenerationChunk | None = None
    reason: Any = None
    async for chunk in stream:
        reason = _reason(chunk, chunk.message) or reason
        total = chunk if total is None else total + chunk
    if total is None or not isinstance(total.message, AIMessageChunk):
        return ChatResult(generations=[])
    noted = {**total.message.response_metadata, **(total.generation_info or {})}
    message = AIMessage(
        content=total.message.content,
        additional_kwargs=total.message.additional_kwargs,
        response_metadata={**noted, "finish_reason": reason},
        id=total.message.id,
        usage_metadata=total.message.usage_metadata,
        **_tool_calls(total.message),
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


def _tool_calls(message: AIMessageChunk) -> dict[str, Any]:
    valid, broken = [], []
    for chunk in message.tool_call_chunks:
        name, text, number = chunk["name"], chunk["args"], chunk["id"]
        try:
            arguments = json.loads(text or "{}", strict=False)
        except (ValueError, RecursionError) as error:
            arguments = error
        if name and isinstance(arguments, dict):
            valid.append(tool_call(name=name, args=arguments, id=number))
        else:
            why = "arguments are no JSON object"
            broken.append(invalid_tool_call(name=name, args=text, id=number, error=why))
    return {"tool_calls": valid, "invalid_tool_calls": broken}


def _reason(generation: ChatGeneration, message: Any) -> Any:
    places: tuple[Mapping[str, Any], ...] = (
        generation.generation_info or {},
        message.response_metadata,
    )
    return next((place[key] for place in places for key in _REASONS if place.get(key)), None)
