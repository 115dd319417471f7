"""Put an answer on the wire: one JSON body, or a stream of events."""

import json
from collections.abc import Iterator
from typing import Any

from tests.endpoint.answers import Said
from tests.endpoint.request import Body

CHUNK_CHARS = 40


def completion(
    said: Said, body: Body, number: int, *, finish: str | None, usage: Any
) -> dict[str, Any]:
    """Give a whole chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if said.name:
        message["tool_calls"] = _tool_calls(said, number)
    else:
        message["content"] = _written(said.value)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **({} if usage is None else {"usage": usage}),
    }


def events(
    said: Said, body: Body, number: int, *, finish: str | None, usage: Any
) -> Iterator[bytes]:
    """Give the same as server-sent events, without the closing `[DONE]`."""
    head = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": body.get("model", ""),
    }
    for delta in _deltas(said, number):
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    if finish is not None:
        yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage is not None and (body.get("stream_options") or {}).get("include_usage"):
        yield _event({**head, "choices": [], "usage": usage})


def usage(said: Said, body_bytes: int) -> dict[str, int]:
    """Count tokens the way one guesses them: four characters each."""
    given, made = body_bytes // 4, max(1, len(_written(said.value)) // 4)
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def finish_of(said: Said) -> str:
    """Give the finish reason of a whole answer."""
    return "tool_calls" if said.name else "stop"


def _deltas(said: Said, number: int) -> Iterator[dict[str, Any]]:
    if not said.name:
        yield {"role": "assistant", "content": ""}
        yield from ({"content": piece} for piece in _pieces(_written(said.value)))
        return
    yield {"role": "assistant", "content": None}
    for index, call in enumerate(_tool_calls(said, number)):
        words = call["function"]["arguments"]
        begun = {**call, "function": {**call["function"], "arguments": ""}}
        yield {"tool_calls": [{"index": index, **begun}]}
        for piece in _pieces(words):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _tool_calls(said: Said, number: int) -> list[dict[str, Any]]:
    calls = ((said.name, said.value), *said.also)
    return [
        {
            "id": f"call_{number}_{index}" if said.call_id is None else said.call_id,
            "type": "function",
            "function": {"name": name, "arguments": _written(value)},
        }
        for index, (name, value) in enumerate(calls)
    ]


def _pieces(words: str) -> list[str]:
    return [words[i : i + CHUNK_CHARS] for i in range(0, len(words), CHUNK_CHARS)]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _event(content: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(content).encode() + b"\n\n"
