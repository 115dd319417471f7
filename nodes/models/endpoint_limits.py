"""Rate and concurrency limits, and the signals of an endpoint: one set for all its callers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from functools import cache
from math import ceil
from typing import Final
from weakref import WeakValueDictionary

from langchain_core.language_models import BaseChatModel

from nodes.models.circuit_breaker import (
    MIN_FAILED_MODELS,
    CircuitBreaker,
    EndpointSignals,
    RetryAfter,
    find_address,
    get_model_health,
    get_retry_after,
)
from nodes.models.rates import (
    CrossLoopSemaphore,
    LocalRates,
    RateLimits,
    Rates,
    find_state_provider,
)
from nodes.models.settings import ModelSettings

FIRST_WEIGHT: Final = 0.25
"""Of the newest answer in the mean and in the deviation, once there are some."""
DEVIATIONS: Final = 2.0
"""Above the mean: too low an estimate exceeds the limit, too high a one is given back."""
MIN_FACTOR: Final = 0.1
MAX_FACTOR: Final = 10.0
_is_held: ContextVar[bool] = ContextVar("task slot is held", default=False)


class TokenEstimate:
    """Corrects estimates by the answers before, as TCP does with its timeouts (RFC 6298)."""

    def __init__(self) -> None:
        self._mean, self._deviation, self._answers = 1.0, 0.0, 0

    def correct(self, tokens: int) -> int:
        """Return what a request with this estimate is likely not to exceed."""
        factor = self._mean + DEVIATIONS * self._deviation
        return ceil(tokens * min(max(factor, MIN_FACTOR), MAX_FACTOR))

    def learn(self, estimate: int, tokens: int) -> None:
        """Learn from a request: what it was estimated at, and what was counted."""
        if estimate <= 0 or tokens <= 0:
            return
        ratio = tokens / estimate
        self._answers += 1
        weight = max(FIRST_WEIGHT, 1 / self._answers)
        if self._answers > 1:
            self._deviation += weight * (abs(ratio - self._mean) - self._deviation)
        self._mean += weight * (ratio - self._mean)


class EndpointLimits:
    """Concurrency, requests and tokens per minute, and the Retry-After of one endpoint."""

    def __init__(
        self, *, max_concurrency: int, rates: Rates | None = None, gate: RetryAfter | None = None
    ) -> None:
        self.retry_after = gate or RetryAfter()
        self._semaphore = CrossLoopSemaphore(max_concurrency)
        self._rates, self._learned = rates or LocalRates(RateLimits()), TokenEstimate()
        self.task_slot = CrossLoopSemaphore(1)
        """For all calls of one task, where one call is made at a time."""
        self._run_semaphores: WeakValueDictionary[str, CrossLoopSemaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def acquire_slot(
        self, tokens: int = 0, *, run: str = "", max_concurrency: int | None = None
    ) -> AsyncIterator[Callable[[int], None]]:
        """Wait until a request of about `tokens` tokens is allowed.

        Yields a function that replaces the estimate with the real number of tokens.
        `max_concurrency` applies within the run `run`.
        """
        async with AsyncExitStack() as stack:
            if max_concurrency is not None:
                own = CrossLoopSemaphore(max_concurrency)
                slots = self._run_semaphores.setdefault(f"{run}/{max_concurrency}", own)
                await stack.enter_async_context(slots)
            await stack.enter_async_context(self._semaphore)
            charge = await self._rates.take(self._learned.correct(tokens))

            def correct(used: int) -> None:
                if used:
                    self._learned.learn(tokens, used)
                    self._rates.correct(charge, used)

            yield correct


def get_endpoint_limits(endpoint: str, settings: ModelSettings) -> EndpointLimits:
    """Return the limits that all callers of an endpoint share in the process."""
    limits = RateLimits(
        settings.requests_per_minute, settings.tokens_per_minute, settings.rate_period_s
    )
    redis_url = settings.find_redis(endpoint)
    return _get_limits(endpoint, settings.max_concurrency, limits, settings.instances, redis_url)


@cache
def _get_limits(
    endpoint: str, max_concurrency: int, limits: RateLimits, instances: int, redis_url: str | None
) -> EndpointLimits:
    own = LocalRates(limits, instances)
    provider = find_state_provider(redis_url)
    rates: Rates = own
    if provider and redis_url and limits:
        rates = provider.build_rates(redis_url, endpoint, limits, own)
    gate = get_retry_after(endpoint)
    return EndpointLimits(max_concurrency=max_concurrency, rates=rates, gate=gate)


@asynccontextmanager
async def hold_for_task(model: BaseChatModel, left_s: float | None = None) -> AsyncIterator[None]:
    """Let a task make all its calls before the next one, where a slow model takes one at a time.

    Such a server keeps one prompt. With the calls of two tasks in turn it would read each prompt
    from its beginning again: on one processor minutes instead of seconds. What runs inside a task,
    such as another graph in a tool, does not wait for its own task.

    Args:
        left_s: until the run's deadline, beyond which the slot is not waited for.
    """
    settings, speed = getattr(model, "settings", None), getattr(model, "speed", None)
    is_slow = speed is not None and speed.limit_factor > 1
    if settings is None or settings.max_concurrency > 1 or not is_slow or _is_held.get():
        yield
        return
    slot = get_endpoint_limits(getattr(model, "endpoint", ""), settings).task_slot
    async with AsyncExitStack() as stack:
        with suppress(TimeoutError):  # the attempt says that its time is over
            async with asyncio.timeout(left_s):
                await stack.enter_async_context(slot)
        token = _is_held.set(True)
        try:
            yield
        finally:
            _is_held.reset(token)


@cache
def get_endpoint_signals(endpoint: str, model: str, redis_url: str | None) -> EndpointSignals:
    """Return the Retry-After and the breakers of a model, shared where there is a Redis."""
    address = _get_address_signals(find_address(endpoint), redis_url)
    breaker = get_model_health(endpoint, model).breaker
    own = EndpointSignals(model, get_retry_after(endpoint), breaker, address)
    return _share_signals(own, endpoint, redis_url)


@cache
def _get_address_signals(address: str, redis_url: str | None) -> EndpointSignals:
    gate, breaker = get_retry_after(address), _get_address_breaker(address)
    own = EndpointSignals(f"all models at {address}", gate, breaker)
    return _share_signals(own, address, redis_url)


@cache
def _get_address_breaker(address: str) -> CircuitBreaker:
    """Return the breaker of an address, one for all settings of the process."""
    return CircuitBreaker(min_models=MIN_FAILED_MODELS)


def _share_signals(own: EndpointSignals, place: str, redis_url: str | None) -> EndpointSignals:
    provider = find_state_provider(redis_url)
    return provider.share_signals(redis_url, place, own) if provider and redis_url else own
