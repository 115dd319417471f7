"""Usage of a message, from its metadata."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from state import Usage

MAX_TOKENS = 10**9
"""A larger count is an error of the endpoint, and would not fit a checkpoint."""
BYTES_PER_TOKEN = 4
"""For English text and JSON; other alphabets need more tokens for the same bytes."""
UNCOUNTED = "uncounted"
"""Metadata key: the message's tokens are estimated."""


def read_usage(message: AIMessage) -> Usage:
    """Return the usage of one call from its answer."""
    tokens = keep_credible_usage(message.usage_metadata)
    metadata: Mapping[str, Any] = message.response_metadata
    name = metadata.get("model") or metadata.get("model_name") or ""
    return Usage(
        model_calls=1,
        input_tokens=tokens["input_tokens"] if tokens else 0,
        output_tokens=tokens["output_tokens"] if tokens else 0,
        cost_usd=metadata.get("cost_usd"),
        seconds=metadata.get("seconds", 0.0),
        models=(name,) if name else (),
        uncounted_calls=1 if metadata.get(UNCOUNTED) else 0,
    )


def build_counts(usage: Usage) -> dict[str, Any]:
    """Return the counts of a call, as its message's metadata and its event hold them."""
    counts = usage.model_dump(include={"input_tokens", "output_tokens", "cost_usd"})
    return {**counts, **({UNCOUNTED: True} if usage.uncounted_calls else {})}


def count_cached(usage: UsageMetadata | None) -> dict[str, int]:
    """Return how many input tokens the endpoint had in its cache, as an event holds them."""
    cached = (usage.get("input_token_details") or {}).get("cache_read") if usage else None
    return {"cached_tokens": cached} if cached else {}


def keep_credible_usage(usage: UsageMetadata | None) -> UsageMetadata | None:
    """Return an endpoint's count; None when it is absent or not credible."""
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
    """Return an estimate of a call's tokens from its bytes, for endpoints that count none."""
    schemas = kwargs.get("tools") or kwargs.get("response_format") or ""
    given = sum(map(_count_bytes, messages)) + len(str(schemas).encode())
    tokens = [-(-size // BYTES_PER_TOKEN) for size in (given, _count_bytes(answer))]
    return UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))


def _count_bytes(message: BaseMessage) -> int:
    """Return the number of bytes of a message's content and tool calls."""
    calls: list[Any] = []
    if isinstance(message, AIMessage):
        made = (*message.tool_calls, *message.invalid_tool_calls)
        calls = [(call["name"], call["args"]) for call in made]
    content = message.content if isinstance(message.content, str) else str(message.content)
    called = json.dumps(calls, default=str, ensure_ascii=False) if calls else ""
    return len(f"{content}{called}".encode(errors="replace"))


def is_credible_count(count: Any) -> TypeGuard[int]:
    """Return whether a value can be a count of tokens."""
    return isinstance(count, int) and 0 <= count <= MAX_TOKENS
