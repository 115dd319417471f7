"""What is known of the model behind an endpoint: is it alive, and how often may one ask again."""

from dataclasses import dataclass, field
from functools import cache

from nodes.models.breaker import Breaker
from nodes.models.retries import RetryBudget


@dataclass(frozen=True)
class Health:
    """Shared by all runs of the process."""

    breaker: Breaker = field(default_factory=Breaker)
    retries: RetryBudget = field(default_factory=RetryBudget)


@cache
def health_of(endpoint: str, model: str) -> Health:
    """Give the one record of a model: of three that an endpoint serves, one may be down."""
    return Health()
