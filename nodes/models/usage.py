"""What a message has cost, as its metadata says."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from state import Usage

MAX_TOKENS = 10**9
"""A count over this is a fault of the endpoint's, and would not fit a checkpoint."""


def usage_of(message: AIMessage) -> Usage:
    """Read the usage of one call from its answer."""
    tokens = message.usage_metadata
    noted: Mapping[str, Any] = message.response_metadata
    name = noted.get("model") or noted.get("model_name") or ""
    return Usage(
        model_calls=1,
        input_tokens=credible(tokens["input_tokens"]) if tokens else 0,
        output_tokens=credible(tokens["output_tokens"]) if tokens else 0,
        cost_usd=noted.get("cost_usd"),
        seconds=noted.get("seconds", 0.0),
        models=(name,) if name else (),
    )


def credible_usage(usage: UsageMetadata | None) -> UsageMetadata | None:
    """Keep what an endpoint counts, within reason; None when it counts nothing."""
    if usage is None:
        return None
    given, made = credible(usage.get("input_tokens")), credible(usage.get("output_tokens"))
    kept = UsageMetadata(input_tokens=given, output_tokens=made, total_tokens=given + made)
    details = usage.get("input_token_details") or {}
    if cached := credible(details.get("cache_read")):
        kept["input_token_details"] = {"cache_read": min(cached, given)}
    return kept


def credible(count: Any) -> int:
    """Read a count of tokens; what cannot be one is 0."""
    return count if isinstance(count, int) and 0 <= count <= MAX_TOKENS else 0
