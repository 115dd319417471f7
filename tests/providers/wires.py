"""How each provider's protocol asks for a call, and how it answers with one."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Body = Mapping[str, Any]
TOKENS_IN, TOKENS_OUT, TOKENS_CACHED = 100, 20, 60


@dataclass(frozen=True)
class Wire:
    """One provider's protocol."""

    extra: str
    model: str
    environment: Mapping[str, str]
    """Variables that lead to the server; `{address}` is its address."""
    read_wanted: Callable[[Body], list[str]]
    """Return the names of the tools, or of the schema, that a request offers."""
    write_reply: Callable[[str, Any], Any]
    """Return a whole reply that calls a tool, or has the JSON of a schema."""
    write_stream: Callable[[str, Any], Iterator[bytes]] | None = None
    """Return the parts of the same reply."""
    content_type: str = "application/json"
    is_cached: bool = False
    """Its usage names the tokens that were in a cache."""


def _sse(event: Mapping[str, Any], *, is_named: bool = False) -> bytes:
    name = f"event: {event['type']}\n" if is_named else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def _read_messages_tools(body: Body) -> list[str]:
    return [tool["name"] for tool in body.get("tools") or ()]


def _write_message(name: str, value: Any) -> Any:
    thought = {"type": "thinking", "thinking": "I call it next.", "signature": "s"}
    call = {"type": "tool_use", "id": "toolu_1", "name": name, "input": value}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [thought, call],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": TOKENS_IN - TOKENS_CACHED,
            "cache_read_input_tokens": TOKENS_CACHED,
            "cache_creation_input_tokens": 0,
            "output_tokens": TOKENS_OUT,
        },
    }


def _stream_message(name: str, value: Any) -> Iterator[bytes]:
    whole = _write_message(name, value)
    begun = {**whole, "content": [], "stop_reason": None}
    call = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    text = json.dumps(value)
    middle = len(text) // 2
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": call},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": part},
            }
            for part in (text[:middle], text[middle:])
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": whole["usage"],
        },
        {"type": "message_stop"},
    ]
    return (_sse(event, is_named=True) for event in events)


def _read_gemini_tools(body: Body) -> list[str]:
    groups = body.get("tools") or ()
    return [each["name"] for group in groups for each in group.get("functionDeclarations") or ()]


def _write_gemini(name: str, value: Any) -> Any:
    part = {"functionCall": {"name": name, "args": value}}
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": TOKENS_IN,
            "cachedContentTokenCount": TOKENS_CACHED,
            "candidatesTokenCount": TOKENS_OUT,
            "totalTokenCount": TOKENS_IN + TOKENS_OUT,
        },
        "modelVersion": "gemini-x",
    }


def _stream_gemini(name: str, value: Any) -> Iterator[bytes]:
    yield _sse(_write_gemini(name, value))


def _read_openai_tools(body: Body) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools") or ()]


def _write_mistral(name: str, value: Any) -> Any:
    call = {
        "id": "abcdefghi",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(value)},
    }
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    return {
        "id": "1",
        "object": "chat.completion",
        "model": "mistral-x",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {
            "prompt_tokens": TOKENS_IN,
            "completion_tokens": TOKENS_OUT,
            "total_tokens": TOKENS_IN + TOKENS_OUT,
        },
    }


def _stream_mistral(name: str, value: Any) -> Iterator[bytes]:
    whole = _write_mistral(name, value)
    choice = whole["choices"][0]
    call = {**choice["message"]["tool_calls"][0], "index": 0}
    delta = {"role": "assistant", "content": "", "tool_calls": [call]}
    part = {"index": 0, "delta": delta, "finish_reason": "tool_calls"}
    yield _sse({**whole, "object": "chat.completion.chunk", "choices": [part]})
    yield b"data: [DONE]\n\n"


def _read_converse_tools(body: Body) -> list[str]:
    tools = (body.get("toolConfig") or {}).get("tools") or ()
    return [tool["toolSpec"]["name"] for tool in tools if "toolSpec" in tool]


def _write_converse(name: str, value: Any) -> Any:
    call = {"toolUse": {"toolUseId": "tooluse_1", "name": name, "input": value}}
    return {
        "output": {"message": {"role": "assistant", "content": [call]}},
        "stopReason": "tool_use",
        "usage": {
            "inputTokens": TOKENS_IN,
            "outputTokens": TOKENS_OUT,
            "totalTokens": TOKENS_IN + TOKENS_OUT,
        },
        "metrics": {"latencyMs": 1},
    }


def _read_ollama_format(body: Body) -> list[str]:
    wanted = body.get("format")
    if not isinstance(wanted, Mapping):
        return _read_openai_tools(body)
    calls = wanted.get("anyOf") or ()
    return [call["properties"]["name"]["const"] for call in calls] or [wanted["title"]]


def _write_ollama(name: str, value: Any) -> Any:
    return {
        "model": "qwen3",
        "created_at": "2026-11-01T00:00:00Z",
        "message": {"role": "assistant", "content": json.dumps(value)},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": TOKENS_IN,
        "eval_count": TOKENS_OUT,
    }


def _stream_ollama(name: str, value: Any) -> Iterator[bytes]:
    whole = _write_ollama(name, value)
    text = whole["message"]["content"]
    middle = len(text) // 2
    for part in (text[:middle], text[middle:]):
        said = {"role": "assistant", "content": part}
        line = {"model": "qwen3", "created_at": whole["created_at"], "message": said, "done": False}
        yield json.dumps(line).encode() + b"\n"
    yield json.dumps({**whole, "message": {"role": "assistant", "content": ""}}).encode() + b"\n"


_AWS = {
    "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "eu-west-1",
}
WIRES = (
    Wire(
        "anthropic",
        "claude-sonnet-4-5",
        {"ANTHROPIC_API_KEY": "sk-ant-x", "ANTHROPIC_API_URL": "{address}"},
        _read_messages_tools,
        _write_message,
        _stream_message,
        "text/event-stream",
        is_cached=True,
    ),
    Wire(
        "google",
        "gemini-2.5-pro",
        {"GOOGLE_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": "{address}"},
        _read_gemini_tools,
        _write_gemini,
        _stream_gemini,
        "text/event-stream",
        is_cached=True,
    ),
    Wire(
        "mistral",
        "mistral-large-latest",
        {"MISTRAL_API_KEY": "x", "MISTRAL_BASE_URL": "{address}/v1"},
        _read_openai_tools,
        _write_mistral,
        _stream_mistral,
        "text/event-stream",
    ),
    Wire(
        "bedrock",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        {**_AWS, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{address}"},
        _read_converse_tools,
        _write_converse,
    ),
    Wire(
        "ollama",
        "qwen3:8b",
        {"OLLAMA_HOST": "{address}"},
        _read_ollama_format,
        _write_ollama,
        _stream_ollama,
        "application/x-ndjson",
    ),
)
