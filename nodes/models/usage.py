"""What a message has cost, as its metadata says."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from state import Usage

MAX_TOKENS = 10**9
"""A count over this is a fault of the endpoint's, and would not fit a checkpoint."""


def usage_of(message: AIMessage) -> Usage:
    """Read the usage of one call from its answer."""
    tokens = credible_usage(message.usage_metadata)
    noted: Mapping[str, Any] = message.response_metadata
    name = noted.get("model") or noted.get("model_name") or ""
    return Usage(
        model_calls=1,
        input_tokens=tokens["input_tokens"] if tokens else 0,
        output_tokens=tokens["output_tokens"] if tokens else 0,
        cost_usd=noted.get("cost_usd"),
        seconds=noted.get("seconds", 0.0),
        models=(name,) if name else (),
    )


def credible_usage(usage: UsageMetadata | None) -> UsageMetadata | None:
    """Keep what an endpoint counts; None when it counts nothing, or what nobody could use."""
    if usage is None:
        return None
    given, made = usage.get("input_tokens"), usage.get("output_tokens")
    if not (is_credible(given) and is_credible(made)):
        return None
    kept = UsageMetadata(input_tokens=given, output_tokens=made, total_tokens=given + made)
    cached = (usage.get("input_token_details") or {}).get("cache_read")
    if is_credible(cached) and cached:
        kept["input_token_details"] = {"cache_read": min(cached, given)}
    return kept


def is_credible(count: Any) -> TypeGuard[int]:
    """Say whether something can be a count of tokens."""
    return isinstance(count, int) and 0 <= count <= MAX_TOKENS
