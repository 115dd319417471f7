"""Put an answer on the wire: one JSON body, or a stream of events."""

import json
from collections.abc import Iterator
from typing import Any

from supervisor_worker.testing.endpoint.request import Body
from supervisor_worker.testing.endpoint.scripted_model import ModelReply

CHUNK_CHARS = 40


def build_completion(
    reply: ModelReply, body: Body, number: int, *, finish: str | None, usage: Any
) -> dict[str, Any]:
    """Return a whole chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if reply.name:
        message["tool_calls"] = _build_tool_calls(reply, number)
        message["content"] = reply.words or None
    else:
        message["content"] = _to_text(reply.content)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **({} if usage is None else {"usage": usage}),
    }


def build_events(
    reply: ModelReply, body: Body, number: int, *, finish: str | None, usage: Any
) -> Iterator[bytes]:
    """Return the same as server-sent events, without the closing `[DONE]`."""
    head = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": body.get("model", ""),
    }
    for delta in _build_deltas(reply, number):
        yield _encode_event(
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        )
    if finish is not None:
        yield _encode_event(
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        )
    if usage is not None and (body.get("stream_options") or {}).get("include_usage"):
        yield _encode_event({**head, "choices": [], "usage": usage})


def estimate_usage(reply: ModelReply, body_bytes: int) -> dict[str, int]:
    """Count tokens the way one guesses them: four characters each."""
    given, made = body_bytes // 4, max(1, len(_to_text(reply.content)) // 4)
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def get_finish_reason(reply: ModelReply) -> str:
    """Return the finish reason of a whole answer."""
    return "tool_calls" if reply.name else "stop"


def _build_deltas(reply: ModelReply, number: int) -> Iterator[dict[str, Any]]:
    if not reply.name:
        yield {"role": "assistant", "content": ""}
        yield from ({"content": piece} for piece in _split_pieces(_to_text(reply.content)))
        return
    yield {"role": "assistant", "content": reply.words or None}
    for index, call in enumerate(_build_tool_calls(reply, number)):
        words = call["function"]["arguments"]
        begun = {**call, "function": {**call["function"], "arguments": ""}}
        yield {"tool_calls": [{"index": index, **begun}]}
        for piece in _split_pieces(words):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _build_tool_calls(reply: ModelReply, number: int) -> list[dict[str, Any]]:
    calls = ((reply.name, reply.content), *reply.further_calls)
    return [
        {
            "id": f"call_{number}_{index}" if reply.call_id is None else reply.call_id,
            "type": "function",
            "function": {"name": name, "arguments": _to_text(value)},
        }
        for index, (name, value) in enumerate(calls)
    ]


def _split_pieces(words: str) -> list[str]:
    return [words[i : i + CHUNK_CHARS] for i in range(0, len(words), CHUNK_CHARS)]


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _encode_event(content: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(content).encode() + b"\n\n"
