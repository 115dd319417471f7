"""Health of models and their addresses: circuit breakers and retry budgets."""

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from functools import cache
from typing import Final
from urllib.parse import urlsplit

from nodes.models.circuit_breaker import CircuitBreaker
from nodes.models.endpoint_limits import get_retry_after
from nodes.models.endpoint_signals import EndpointSignals
from nodes.models.shared_state import SharedState, find_state_provider

PERIOD_S = 60.0
RETRY_SHARE = 0.1
MIN_RETRIES = 5


class RetryBudget:
    """Allows retries up to a tenth of the calls in a minute, at least five.

    A successful retry is refunded: the budget limits those that only add load. So callers without
    budget wait while other retries are in flight.
    """

    def __init__(self) -> None:
        self._calls: deque[float] = deque()
        self._retries: deque[float] = deque()
        self._in_flight = 0
        self._lock = threading.Lock()

    def count_call(self) -> None:
        """Count a call, without its retries."""
        with self._lock:
            now = time.monotonic()
            self._calls.append(now)
            _drop_old(self._calls, now)

    def take_retry(self) -> bool:
        """Take one retry from the budget; return False when none is left now."""
        with self._lock:
            now = time.monotonic()
            _drop_old(self._calls, now)
            _drop_old(self._retries, now)
            if len(self._retries) >= max(MIN_RETRIES, RETRY_SHARE * len(self._calls)):
                return False
            self._retries.append(now)
            self._in_flight += 1
            return True

    def is_worth_waiting(self) -> bool:
        """Return whether a retry is in flight that may be refunded."""
        return self._in_flight > 0

    def finish_retry(self) -> None:
        """Record that a retry was answered or failed."""
        with self._lock:
            self._in_flight -= 1

    def refund_retries(self, number: int) -> None:
        """Return the retries of an answered call to the budget."""
        with self._lock:
            for _ in range(min(number, len(self._retries))):
                self._retries.pop()


def _drop_old(times: deque[float], now: float) -> None:
    while times and now - times[0] > PERIOD_S:
        times.popleft()


MIN_FAILED_MODELS: Final = 2
"""Of an address, before it counts as down: one of them alone may be."""


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
    """Return the Retry-After and the breakers of a model, shared where there is a Redis."""
    return EndpointSignals(
        _open_state(redis_url),
        endpoint,
        model,
        get_retry_after(endpoint),
        get_model_health(endpoint, model).breaker,
        _get_address_signals(find_address(endpoint), redis_url),
    )


@cache
def _get_address_signals(address: str, redis_url: str | None) -> EndpointSignals:
    return EndpointSignals(
        _open_state(redis_url),
        address,
        f"all models at {address}",
        get_retry_after(address),
        get_address_breaker(address),
    )


def _open_state(url: str | None) -> SharedState | None:
    provider = find_state_provider(url)
    return provider.open(url) if provider and url else None


@cache
def get_address_breaker(address: str) -> CircuitBreaker:
    """Return the breaker of an address; it opens when calls of several of its models fail."""
    return CircuitBreaker(min_models=MIN_FAILED_MODELS)


def find_address(endpoint: str) -> str:
    """Return scheme, host and port of an endpoint, or its own name where it has no address."""
    provider, _, url = endpoint.partition(" ")
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host}" if host else f"{provider} {url}".strip()
