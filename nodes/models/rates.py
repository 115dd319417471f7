"""Requests and tokens per minute of one endpoint, as one process counts them."""

import asyncio
from dataclasses import dataclass
from math import ceil
from typing import Final, Protocol

from nodes.models.cross_loop_semaphore import CrossLoopSemaphore
from nodes.models.rate_window import PERIOD_S, RateWindow, WindowEntry

LATE_PART: Final = 0.02
"""A window is longer than its period by this part: requests arrive later than they are counted."""

MAX_SLEEP_S: Final = 1.0
"""Between two looks, because tokens are given back, and a Redis may come back."""


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
        self.requests = _make_window(limits.requests, limits, instances)
        self.tokens = _make_window(limits.tokens, limits, instances)
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


def _make_window(rate: float | None, limits: RateLimits, instances: int) -> RateWindow | None:
    return RateWindow(*divide_rate(rate, instances, limits.window_s)) if rate else None
