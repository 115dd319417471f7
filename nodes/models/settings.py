"""Settings of the models, as plain data; `graph/settings.py` reads them from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Price = tuple[float, float]
"""US dollars for a million tokens: input, output."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Names, endpoint and rates; the rates are shared by all workers of a process."""

    fast: str = "embedded"
    """`provider:model`, or `embedded` for the built-in extractive model."""
    standard: str = "embedded"
    strong: str = "embedded"
    base_url: str | None = None
    """The address of an OpenAI-compatible endpoint, with its `/v1`; None for the provider's own."""
    api_key: str | None = field(default=None, repr=False)
    max_concurrency: int = 16
    """Limit for the model calls in flight."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    call_timeout_s: float = 120.0
    """Total for one call, its retries and waits included."""
    max_tries: int = 4
    """Limit for the tries of one request, the first included."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By `provider:model`; a price named here overrides the price table."""
    streaming: bool = False
    """Request a stream even without a listener for tokens."""
