"""What a message has cost, as its metadata says."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from state import Usage

MAX_TOKENS = 10**9
"""A count over this is a fault of the endpoint's, and would not fit a checkpoint."""
BYTES_PER_TOKEN = 4
"""Of English words and of JSON; other alphabets take more tokens for as many bytes."""
UNCOUNTED = "uncounted"
"""Among a message's metadata: its tokens are estimated."""


def read_usage(message: AIMessage) -> Usage:
    """Read the usage of one call from its answer."""
    tokens = keep_credible_usage(message.usage_metadata)
    noted: Mapping[str, Any] = message.response_metadata
    name = noted.get("model") or noted.get("model_name") or ""
    return Usage(
        model_calls=1,
        input_tokens=tokens["input_tokens"] if tokens else 0,
        output_tokens=tokens["output_tokens"] if tokens else 0,
        cost_usd=noted.get("cost_usd"),
        seconds=noted.get("seconds", 0.0),
        models=(name,) if name else (),
        uncounted_calls=1 if noted.get(UNCOUNTED) else 0,
    )


def keep_credible_usage(usage: UsageMetadata | None) -> UsageMetadata | None:
    """Keep what an endpoint counts; None when it counts nothing, or what nobody could use."""
    if usage is None:
        return None
    given, made = usage.get("input_tokens"), usage.get("output_tokens")
    if not (is_credible_count(given) and is_credible_count(made)) or not (given or made):
        return None
    kept = UsageMetadata(input_tokens=given, output_tokens=made, total_tokens=given + made)
    cached = (usage.get("input_token_details") or {}).get("cache_read")
    if is_credible_count(cached) and cached:
        kept["input_token_details"] = {"cache_read": min(cached, given)}
    return kept


def estimate_usage(
    messages: Sequence[BaseMessage], kwargs: Mapping[str, Any], answer: AIMessage
) -> UsageMetadata:
    """Estimate the tokens of a call, whose endpoint counts none, from the bytes either way."""
    given = sum(map(_count_bytes, messages)) + len(str(kwargs.get("tools") or "").encode())
    tokens = [-(-size // BYTES_PER_TOKEN) for size in (given, _count_bytes(answer))]
    return UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))


def _count_bytes(message: BaseMessage) -> int:
    """Count the bytes of what a message says and calls."""
    calls: list[Any] = []
    if isinstance(message, AIMessage):
        made = (*message.tool_calls, *message.invalid_tool_calls)
        calls = [(call["name"], call["args"]) for call in made]
    said = message.content if isinstance(message.content, str) else str(message.content)
    called = json.dumps(calls, default=str, ensure_ascii=False) if calls else ""
    return len(f"{said}{called}".encode(errors="replace"))


def is_credible_count(count: Any) -> TypeGuard[int]:
    """Return whether something can be a count of tokens."""
    return isinstance(count, int) and 0 <= count <= MAX_TOKENS
