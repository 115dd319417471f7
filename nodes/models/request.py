"""One request to a model and its answer, streamed if there is a listener."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from nodes.models.completeness import collect_stream
from nodes.models.run_on import RunOnWatch

ChunkListener = Callable[[ChatGenerationChunk], None]


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
    stream_usage = kwargs.pop("stream_usage", None)
    can_stream = type(inner)._astream is not BaseChatModel._astream
    if not can_stream or not (has_listener or is_streaming or on_chunk):
        return await inner._agenerate(messages, stop=stop, **kwargs)
    if stream_usage is not None:
        kwargs["stream_usage"] = stream_usage
    return await collect_stream(
        _notify_listeners(
            inner._astream(messages, stop=stop, **kwargs),
            run_manager,
            on_chunk,
            watch,
        )
    )


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
