"""What is known of the model behind an endpoint: is it alive, and how often may one ask again."""

from dataclasses import dataclass, field
from functools import cache

from nodes.models.circuit_breaker import CircuitBreaker
from nodes.models.retry_budget import RetryBudget


@dataclass(frozen=True)
class ModelHealth:
    """Shared by all runs of the process."""

    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    retry_budget: RetryBudget = field(default_factory=RetryBudget)


@cache
def get_model_health(endpoint: str, model: str) -> ModelHealth:
    """Return the one record of a model: of three that an endpoint serves, one may be down."""
    return ModelHealth()
