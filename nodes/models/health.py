"""Health of a model behind an endpoint: its circuit breaker and its retry budget."""

from dataclasses import dataclass, field
from functools import cache

from nodes.models.circuit_breaker import CircuitBreaker
from nodes.models.endpoint_limits import get_retry_after
from nodes.models.retry_budget import RetryBudget
from nodes.models.shared.signals import EndpointSignals
from nodes.models.shared.store import get_shared_store


@dataclass
class ModelHealth:
    """Shared by all runs of the process."""

    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    retry_budget: RetryBudget = field(default_factory=RetryBudget)
    can_stream: bool = True
    """False once it has answered a request for a stream with something else."""


@cache
def get_model_health(endpoint: str, model: str) -> ModelHealth:
    """Return the health of a model: one of several models of an endpoint may be down."""
    return ModelHealth()


@cache
def get_endpoint_signals(endpoint: str, model: str, redis_url: str | None) -> EndpointSignals:
    """Return the Retry-After and the breaker of a model, shared where there is a Redis."""
    return EndpointSignals(
        get_shared_store(redis_url) if redis_url else None,
        endpoint,
        model,
        get_retry_after(endpoint),
        get_model_health(endpoint, model).breaker,
    )
