"""Settings of the models, as plain data; `graph/settings.py` reads them from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Tier = Literal["fast", "standard", "strong"]
"""As in `state`, which imports LangGraph; an error before that needs settings too."""

EMBEDDED = "embedded"
"""The name of the built-in model, which quotes and computes."""
DEFAULT_CALL_TIMEOUT_S = 120.0
"""Of a model at the usual speed; a slower one has more time."""
DEFAULT_OUTPUT_TOKENS = 4096
"""Limit for one answer; OpenAI's own models have more."""
OutputPurpose = Literal["plan", "turn", "report", "answer"]
"""What an answer of a model is for."""
Price = tuple[float, float]
"""US dollars for a million tokens: input, output."""


@dataclass(frozen=True, kw_only=True)
class TierSettings:
    """The endpoint of one tier; what is None or empty is that of all tiers."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request, such as those of a gateway."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of every request, such as `temperature` and `seed`."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Names, endpoint and rates; the rates are shared by all workers of a process."""

    fast: str = EMBEDDED
    """`provider:model`, or `embedded` for the built-in one, which quotes and computes."""
    standard: str = EMBEDDED
    strong: str = EMBEDDED
    base_url: str | None = None
    """The address of an OpenAI-compatible endpoint, with its `/v1`; None for the provider's own."""
    api_key: str | None = field(default=None, repr=False)
    tiers: Mapping[Tier, TierSettings] = field(default_factory=dict)
    """Tiers with an endpoint or parameters of their own."""
    max_concurrency: int = 16
    """Limit for the model calls in flight."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    rate_period_s: float = 60.0
    """The minute of the rates; tests shorten it."""
    instances: int = 1
    """Processes that divide the rates between them while they do not share a Redis."""
    redis_url: str | None = field(default=None, repr=False)
    """The Redis through which all instances share the rates; None: each has its part."""
    call_timeout_s: float | None = None
    """Total for one call, its retries and waits included; None: the default for its speed."""
    max_tries: int = 4
    """Limit for the tries of one request, the first included."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By `provider:model`; a price named here overrides the price table."""
    max_output_tokens: Mapping[OutputPurpose, int] = field(default_factory=dict)
    """Limit for one answer; a retry doubles it."""
    streaming: bool = False
    """Request a stream even without a listener for tokens."""
    trace_content: bool = False
    """Put the prompt and the reply of each call into its event."""
    choices: frozenset[str] | None = None
    """Models that a run may choose in its context; None: any."""

    def find_redis(self, endpoint: str) -> str | None:
        """Return the Redis that shares the rates of an endpoint; None where none does."""
        return None if endpoint == EMBEDDED else self.redis_url

    def get_tier(self, tier: Tier) -> TierSettings:
        """Return a tier's endpoint; a key is not sent to an address that it was not set for."""
        own = self.tiers.get(tier) or TierSettings()
        if own.base_url:
            return own
        return TierSettings(
            base_url=self.base_url,
            api_key=own.api_key or self.api_key,
            headers=own.headers,
            parameters=own.parameters,
        )
