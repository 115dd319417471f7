"""Health of models and their addresses: circuit breakers, Retry-After, retry budgets."""

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Final
from urllib.parse import urlsplit

from nodes.errors import EndpointDown

STAGGER_S = 0.015
"""Between released calls: calls released all at once would be refused again."""
FAILURE_THRESHOLD = 6
"""Consecutive failures that open it: one more than the retries of a single run."""
OPEN_S = 30.0
FORGET_AFTER_S = 300.0
"""Failures are forgotten when the last one is older than this."""
PAUSE_S = 0.25
"""Pause of all calls after a failure; it doubles with each consecutive failure."""
MAX_PAUSE_S = 2.0
PERIOD_S = 60.0
RETRY_SHARE = 0.1
MIN_RETRIES = 5
MIN_FAILED_MODELS: Final = 2
"""Of an address, before it counts as down: one of them alone may be."""


class CircuitBreaker:
    """Closed while an endpoint answers, open while it counts as down, half-open for one probe.

    Concurrent failures during one outage count once: they do not show that it is a long one. After
    each failure all calls pause, so that it takes some seconds until the breaker opens.

    Shared by all runs and event loops of the process. Without failures it costs one comparison.

    Args:
        min_models: of which calls must have failed before it opens or pauses others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, min_models: int = 1) -> None:
        self._clock, self._min_models = clock, min_models
        self.failures = 0
        """Consecutive failures."""
        self._failed_models: set[str] = set()
        """Since the last answer."""
        self._is_open = False
        self._last_error = ""
        self._first_failure_s = self._last_failure_s = self._retry_at_s = self._counts_from_s = 0.0
        self._probe: object = None
        self._lock = threading.Lock()

    def is_open(self) -> bool:
        """Return whether calls are refused; also true while the probe is running."""
        return self._is_open

    def is_nearly_open(self) -> bool:
        """Return whether the next failure opens it, or it is open."""
        return self.failures >= FAILURE_THRESHOLD - 1 and self._counts_enough_models()

    def admit(self, caller: object, name: str) -> float:
        """Return the seconds to pause before the next check; 0 when the caller may send a request.

        Raises:
            EndpointDown: the breaker is open, and the caller is not its probe.
        """
        if not self.failures:
            return 0.0
        with self._lock:
            now = self._clock()
            if not self._is_open:
                return max(0.0, self._retry_at_s - now) if self._counts_enough_models() else 0.0
            if self._probe is None and now >= self._retry_at_s:
                self._probe = caller
            if self._probe is caller:
                return 0.0
            raise self.build_refusal(name)

    def record_answer(self, began_s: float) -> None:
        """Record that a request was answered, even with a refusal; this closes the breaker."""
        if not self.failures:
            return
        with self._lock:
            if began_s >= self._counts_from_s:
                self._reset()

    def record_failure(self, began_s: float, message: str, model: str = "") -> bool:
        """Record that a request was not answered; return True when this opens the breaker."""
        with self._lock:
            now = self._clock()
            if now - self._last_failure_s > FORGET_AFTER_S and not self._is_open:
                self._reset()
            self._failed_models.add(model)
            if self.failures and began_s < self._counts_from_s:
                return False
            if not self.failures:
                self._first_failure_s = self._counts_from_s = now
            self.failures += 1
            was_open = self._is_open
            if self.failures >= FAILURE_THRESHOLD and self._counts_enough_models():
                self._is_open, self._counts_from_s = True, now
            self._last_failure_s, self._last_error, self._probe = now, message, None
            self._retry_at_s = now + self._choose_pause_s()
            return self._is_open and not was_open

    def is_probe(self, caller: object) -> bool:
        """Return whether a caller is the probe."""
        return self._probe is caller

    def release_probe(self, caller: object) -> bool:
        """Record that a caller is done; return True if it was the probe, and another may be."""
        with self._lock:
            if self._probe is not caller:
                return False
            self._probe = None
            return True

    def adopt(self, pause_s: float, message: str) -> None:
        """Open it as another instance did; it may probe after `pause_s` seconds."""
        with self._lock:
            now = self._clock()
            if not self._is_open:
                self.failures, self._first_failure_s, self._is_open = FAILURE_THRESHOLD, now, True
                self._counts_from_s = self._last_failure_s = now
                self._last_error = message
            self._retry_at_s = now + pause_s

    def close(self) -> None:
        """Close it: another instance had an answer."""
        with self._lock:
            self._reset()

    def get_pause_s(self) -> float:
        """Return the seconds until a request may be sent."""
        return max(0.0, self._retry_at_s - self._clock())

    def build_refusal(self, name: str) -> EndpointDown:
        """Return the error for calls while the breaker is open."""
        now = self._clock()
        failures = "failure" if self.failures == 1 else "failures"
        since = time.strftime(
            "%H:%M:%S UTC", time.gmtime(time.time() - (now - self._first_failure_s))
        )
        return EndpointDown(
            f"circuit open for {name} after {self.failures} consecutive {failures} since {since}",
            retry_after_s=max(0.0, self._retry_at_s - now),
            cause=self._last_error,
        )

    def _counts_enough_models(self) -> bool:
        return self._is_open or len(self._failed_models) >= self._min_models

    def _reset(self) -> None:
        self.failures, self._probe, self._is_open = 0, None, False
        self._failed_models.clear()

    def _choose_pause_s(self) -> float:
        if self._is_open:
            return OPEN_S
        return random.uniform(0.5, 1.0) * min(MAX_PAUSE_S, PAUSE_S * 2.0 ** (self.failures - 1))


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


class RetryAfter:
    """Blocks while an endpoint is rate limited. Shared by all event loops of the process."""

    def __init__(self) -> None:
        self._blocked_until_s = 0.0
        self._next_turn_s = 0.0
        self._last_turn_s = 0.0
        self._lock = threading.Lock()

    def block(self, seconds: float) -> None:
        """Block all calls for this time; a shorter time does not end an earlier block."""
        with self._lock:
            until_s = time.monotonic() + seconds
            if until_s > self._blocked_until_s:
                self._blocked_until_s = self._next_turn_s = until_s

    def get_blocked_s(self) -> float:
        """Return the seconds until calls are allowed; 0 when they are."""
        return max(0.0, self._blocked_until_s - time.monotonic())

    async def wait(self, *, is_staggered: bool = False) -> None:
        """Wait until calls are allowed; waiters are released one by one.

        Args:
            is_staggered: release one by one even when calls are allowed.
        """
        if not is_staggered and self.get_blocked_s() <= 0:
            return
        wait_s = self._take_turn_s()
        while wait_s > 0:
            await asyncio.sleep(wait_s)
            wait_s = self._get_wait_left_s()

    def _take_turn_s(self) -> float:
        """Take a place in the queue; return the seconds until its turn."""
        with self._lock:
            now = time.monotonic()
            turn_s = max(now, self._blocked_until_s, self._next_turn_s)
            self._next_turn_s = turn_s + STAGGER_S
            if turn_s <= now:
                self._last_turn_s = now
            return turn_s - now

    def _get_wait_left_s(self) -> float:
        """Return the seconds left: it was blocked again, or a busy loop woke two at once."""
        with self._lock:
            now = time.monotonic()
            if now < self._blocked_until_s:
                turn_s = max(self._blocked_until_s, self._next_turn_s)
                self._next_turn_s = turn_s + STAGGER_S
                return turn_s - now
            left_s = self._last_turn_s + STAGGER_S - now
            if left_s <= 0:
                self._last_turn_s = now
            return max(0.0, left_s)


@cache
def get_retry_after(endpoint: str) -> RetryAfter:
    """Return the endpoint's shared Retry-After state: it applies to all sets of limits."""
    return RetryAfter()


class EndpointSignals:
    """Decides when an endpoint may be asked, by how it has answered.

    Args:
        name: of what has the breaker; errors name it.
        outer: of the address, whose breaker refuses the calls of all its models.
    """

    def __init__(
        self,
        name: str,
        gate: RetryAfter,
        breaker: CircuitBreaker,
        outer: "EndpointSignals | None" = None,
    ) -> None:
        self.name, self.gate, self.breaker, self.outer = name, gate, breaker, outer

    async def refresh(self) -> None:
        """Learn what other instances know, where it is shared."""
        if self.outer:
            await self.outer.refresh()

    def block(self, seconds: float) -> None:
        """Block all calls for this time."""
        self.gate.block(seconds)

    async def admit(self, caller: object, timeout_s: float) -> float:
        """Return the seconds to pause before the next check; 0 when the caller may send a request.

        Args:
            timeout_s: after which the caller has ended.

        Raises:
            EndpointDown: the breaker is open, and the caller is not the probe.
        """
        if self.outer and (pause_s := await self.outer.admit(caller, timeout_s)):
            return pause_s
        return self.breaker.admit(caller, self.name)

    def build_refusal(self) -> EndpointDown:
        """Return the error for a call that has no time for the pause that is left."""
        if self.outer and self.outer.breaker.get_pause_s() > self.breaker.get_pause_s():
            return self.outer.build_refusal()
        return self.breaker.build_refusal(self.name)

    def is_open(self) -> bool:
        """Return whether calls are refused."""
        return self.breaker.is_open() or (self.outer is not None and self.outer.is_open())

    def allows_retry(self) -> bool:
        """Return whether a failed call may be repeated.

        Where several models of an address have failed, what it may still be asked is left for the
        first call of another model or another step.
        """
        return self.outer is None or not self.outer.breaker.is_nearly_open()

    def record_answer(self, began_s: float) -> None:
        """Record that a request was answered, even with a refusal; this closes the breaker."""
        if self.outer:
            self.outer.record_answer(began_s)
        self.breaker.record_answer(began_s)

    def record_failure(self, began_s: float, message: str, model: str = "") -> str:
        """Record that a request was not answered; return for what this opens the breaker, or ""."""
        model = model or self.name
        outer = self.outer.record_failure(began_s, message, model) if self.outer else ""
        is_opened = self.breaker.record_failure(began_s, message, model)
        return outer or (self.name if is_opened else "")

    def release_probe(self, caller: object) -> bool:
        """Record that a caller is done; return True if it was the probe, and another may be."""
        if self.outer:
            self.outer.release_probe(caller)
        return self.breaker.release_probe(caller)


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


def find_address(endpoint: str) -> str:
    """Return scheme, host and port of an endpoint, or its own name where it has no address."""
    provider, _, url = endpoint.partition(" ")
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host}" if host else f"{provider} {url}".strip()
