"""Requests and tokens per minute of one endpoint, as one process counts them."""

import asyncio
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol

PERIOD_S = 60.0
LATE_PART: Final = 0.02
"""A window is longer than its period by this part: requests arrive later than they are counted."""
MAX_SLEEP_S: Final = 1.0
"""Between two looks, because tokens are given back, and a Redis may come back."""


class CrossLoopSemaphore:
    """Admits a number of tasks at once; waiters enter in order. Use with `async with`.

    The tasks may be of several event loops, while asyncio's own is bound to one.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._free > 0 and not self._waiting:
                self._free -= 1
                return
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            with self._lock:
                is_waiting = place in self._waiting
                if is_waiting:
                    self._waiting.remove(place)
            if not is_waiting:  # woken while cancelled: the next waiter enters
                self._release()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    def _release(self) -> None:
        running = None
        with suppress(RuntimeError):  # the loop was closed, and the task with it
            running = asyncio.get_running_loop()
        with self._lock:
            while self._waiting:
                place = self._waiting.popleft()
                if place.get_loop() is running:
                    _grant(place)
                    return
                with suppress(RuntimeError):  # its event loop is closed
                    place.get_loop().call_soon_threadsafe(_grant, place)
                    return
            self._free += 1


def _grant(place: asyncio.Future[None]) -> None:
    if not place.done():
        place.set_result(None)


if TYPE_CHECKING:  # which is made of rates
    from nodes.models.circuit_breaker import EndpointSignals


@dataclass(eq=False)
class WindowEntry:
    """An amount taken from a window."""

    at_s: float
    amount: float


class RateWindow:
    """Admits at most `limit` in any `period_s` seconds; first come, first served.

    A leaky bucket admits up to twice its rate in its first period, and cannot be corrected.
    """

    def __init__(self, limit: float, period_s: float = PERIOD_S) -> None:
        self.limit, self._period_s = limit, period_s
        self._entries: deque[WindowEntry] = deque()
        self._total = 0.0
        self._lock = threading.Lock()

    def record(self, amount: float = 1.0) -> WindowEntry:
        """Count an amount, whether it fits or not."""
        entry = WindowEntry(time.monotonic(), amount)
        with self._lock:
            self._drop_expired(entry.at_s)
            self._entries.append(entry)
            self._total += entry.amount
        return entry

    def correct(self, entry: WindowEntry, amount: float) -> None:
        """Replace the estimate with the real amount."""
        with self._lock:
            if self._entries and entry.at_s >= self._entries[0].at_s:
                self._total += amount - entry.amount
                entry.amount = amount

    def list_entries(self) -> list[WindowEntry]:
        """List what counts at this moment, the oldest first."""
        with self._lock:
            self._drop_expired(time.monotonic())
            return list(self._entries)

    def get_wait_s(self, amount: float = 1.0) -> float:
        """Return the seconds until the amount fits; one over the limit fits an empty window."""
        with self._lock:
            now = time.monotonic()
            self._drop_expired(now)
            excess = self._total + min(amount, self.limit) - self.limit
            for entry in self._entries:
                if excess <= 0:
                    break
                excess -= entry.amount
                if excess <= 0:
                    return entry.at_s + self._period_s - now
            return 0.0

    def _drop_expired(self, now: float) -> None:
        while self._entries and now - self._entries[0].at_s >= self._period_s:
            self._total -= self._entries.popleft().amount
        if not self._entries:
            self._total = 0.0


@dataclass(frozen=True)
class RateLimits:
    """What an endpoint allows in one period; None is no limit."""

    requests: float | None = None
    tokens: float | None = None
    period_s: float = PERIOD_S

    @property
    def window_s(self) -> float:
        """Seconds for which a request counts."""
        return self.period_s * (1 + LATE_PART)

    def __bool__(self) -> bool:
        return bool(self.requests or self.tokens)


@dataclass(eq=False)
class Charge:
    """One request, as it was counted."""

    request: WindowEntry | None
    tokens: WindowEntry | None
    is_shared: bool = False
    """Whether the store of all instances has counted it."""


class Rates(Protocol):
    """Counts requests and their tokens."""

    async def take(self, tokens: int) -> Charge:
        """Wait until a request of so many tokens is allowed, and count it."""

    def correct(self, charge: Charge, tokens: int) -> None:
        """Replace the estimate of a request with its real number of tokens."""


class LocalRates:
    """The part of the rates that this process has, if each instance has the same."""

    def __init__(self, limits: RateLimits, instances: int = 1) -> None:
        self._limits = limits
        self.requests, self.tokens = (
            RateWindow(*divide_rate(rate, instances, limits.window_s)) if rate else None
            for rate in (limits.requests, limits.tokens)
        )
        self._turn = CrossLoopSemaphore(1)

    async def take(self, tokens: int) -> Charge:
        """Wait until a request of so many tokens is allowed, and count it."""
        if not self._limits:
            return Charge(None, None)
        async with self._turn:
            while (wait_s := self.get_wait_s(tokens)) > 0:  # noqa: ASYNC110 - only time makes room
                await asyncio.sleep(min(wait_s, MAX_SLEEP_S))
            return self.record(tokens)

    def get_wait_s(self, tokens: int) -> float:
        """Return the seconds until such a request is allowed; 0 when it is."""
        return max(
            self.requests.get_wait_s() if self.requests else 0.0,
            self.tokens.get_wait_s(tokens) if self.tokens else 0.0,
        )

    def record(self, tokens: int, *, is_shared: bool = False) -> Charge:
        """Count a request, whether it is allowed or not."""
        return Charge(
            self.requests.record() if self.requests else None,
            self.tokens.record(min(tokens, self._limits.tokens or 0)) if self.tokens else None,
            is_shared,
        )

    def correct(self, charge: Charge, tokens: int) -> None:
        """Replace the estimate of a request with its real number of tokens."""
        if self.tokens and charge.tokens:
            self.tokens.correct(charge.tokens, tokens)


def divide_rate(rate: float, instances: int, period_s: float) -> tuple[float, float]:
    """Return the limit of one instance, and its period: longer where the limit would be below 1."""
    share = rate / instances
    return (share, period_s) if share >= 1 else (1.0, ceil(period_s / share))


class StateProvider(Protocol):
    """Shares what instances learn of endpoints, at a place such as a Redis."""

    def build_rates(self, url: str, endpoint: str, limits: RateLimits, local: LocalRates) -> Rates:
        """Return the rates of an endpoint over all instances."""

    def share_signals(self, url: str, endpoint: str, own: "EndpointSignals") -> "EndpointSignals":
        """Return signals of an endpoint that all instances hear; nothing is connected yet."""


_registered: list[StateProvider] = []


def register_state_provider(provider: StateProvider) -> None:
    """Share what instances learn of endpoints, where an address is set for it."""
    _registered[:] = [provider]


def find_state_provider(url: str | None) -> StateProvider | None:
    """Return what opens the state at an address; None without an address or an extension."""
    return _registered[0] if url and _registered else None
