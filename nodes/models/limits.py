"""How fast an endpoint may be asked: one set of limits per endpoint, shared by all who call it."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from nodes.models.perloop import PerLoop
from nodes.models.settings import ModelSettings

PERIOD_S = 60.0
STAGGER_S = 0.015
"""Between the calls that a gate lets go: a crowd let go at once is refused at once."""


@dataclass(eq=False)
class Entry:
    """An amount taken from a window."""

    at_s: float
    amount: float


class Window:
    """Lets no more than `limit` pass in any `period_s` seconds; first come, first served.

    A leaky bucket admits up to twice its rate in its first period, and cannot be corrected.
    """

    def __init__(self, limit: float, period_s: float = PERIOD_S) -> None:
        self.limit, self._period_s = limit, period_s
        self._entries: deque[Entry] = deque()
        self._total = 0.0
        self._turn = asyncio.Lock()

    async def take(self, amount: float = 1.0) -> Entry:
        """Wait until the amount fits; one over the limit waits for an empty window."""
        amount = min(amount, self.limit)
        async with self._turn:
            # nobody can wake it earlier: time alone makes room
            while (wait_s := self._wait_s(amount)) > 0:  # noqa: ASYNC110
                await asyncio.sleep(wait_s)
            entry = Entry(time.monotonic(), amount)
            self._entries.append(entry)
            self._total += amount
            return entry

    def correct(self, entry: Entry, amount: float) -> None:
        """Put in the true amount, once it is known."""
        if self._entries and entry.at_s >= self._entries[0].at_s:
            self._total += amount - entry.amount
            entry.amount = amount

    def _wait_s(self, amount: float) -> float:
        now = time.monotonic()
        while self._entries and now - self._entries[0].at_s >= self._period_s:
            self._total -= self._entries.popleft().amount
        if not self._entries:
            self._total = 0.0
        excess = self._total + amount - self.limit
        for entry in self._entries:
            if excess <= 0:
                break
            excess -= entry.amount
            if excess <= 0:
                return entry.at_s + self._period_s - now
        return 0.0


class Gate:
    """Closed while the endpoint has asked to be left alone."""

    def __init__(self) -> None:
        self._opens_at_s = 0.0
        self._released = 0

    def close(self, seconds: float) -> None:
        """Keep everybody out for that long; a shorter wish does not open it earlier."""
        opens_at_s = time.monotonic() + seconds
        if opens_at_s > self._opens_at_s:
            self._opens_at_s, self._released = opens_at_s, 0

    def opens_in_s(self) -> float:
        """Give the seconds until it opens; 0 when it is open."""
        return max(0.0, self._opens_at_s - time.monotonic())

    async def wait(self) -> None:
        """Wait until it is open; those who waited go one by one."""
        while (left_s := self.opens_in_s()) > 0:
            opens_at_s = self._opens_at_s
            self._released += 1
            await asyncio.sleep(left_s + self._released * STAGGER_S)
            if self._opens_at_s == opens_at_s:
                return


class Slot:
    """Leave to make one request; `correct` puts in the tokens it has really cost."""

    def __init__(self, tokens: Window | None, entry: Entry | None) -> None:
        self._tokens, self._entry = tokens, entry

    def correct(self, tokens: int) -> None:
        """Replace the estimate."""
        if self._tokens and self._entry and tokens:
            self._tokens.correct(self._entry, tokens)


class Limits:
    """Concurrency, requests and tokens per minute, and the gate of one endpoint in one loop."""

    def __init__(
        self,
        *,
        max_concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        period_s: float = PERIOD_S,
    ) -> None:
        self.gate = Gate()
        self.counts_tokens = tokens_per_minute is not None
        self._slots = asyncio.Semaphore(max_concurrency)
        self._requests = Window(requests_per_minute, period_s) if requests_per_minute else None
        self._tokens = Window(tokens_per_minute, period_s) if tokens_per_minute else None
        self._runs: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def slot(
        self, tokens: int = 0, *, run: str = "", max_concurrency: int | None = None
    ) -> AsyncIterator[Slot]:
        """Wait for leave to make a request of about so many tokens.

        `max_concurrency` holds within the run of that name.
        """
        async with AsyncExitStack() as stack:
            if max_concurrency is not None:
                await stack.enter_async_context(self._of_run(run, max_concurrency))
            await stack.enter_async_context(self._slots)
            if self._requests:
                await self._requests.take()
            entry = await self._tokens.take(tokens) if self._tokens else None
            yield Slot(self._tokens, entry)

    def _of_run(self, run: str, max_concurrency: int) -> asyncio.Semaphore:
        key = f"{run}/{max_concurrency}"
        found = self._runs.get(key)
        if found is None:
            found = self._runs[key] = asyncio.Semaphore(max_concurrency)
        return found


_LIMITS: dict[tuple[str, int, float | None, float | None], PerLoop[Limits]] = {}


def limits_for(endpoint: str, settings: ModelSettings) -> Limits:
    """Give the limits that all callers of an endpoint share in the running loop."""
    rates = (settings.requests_per_minute, settings.tokens_per_minute)
    key = (endpoint, settings.max_concurrency, *rates)
    if key not in _LIMITS:
        _LIMITS[key] = PerLoop(
            lambda: Limits(
                max_concurrency=settings.max_concurrency,
                requests_per_minute=settings.requests_per_minute,
                tokens_per_minute=settings.tokens_per_minute,
            )
        )
    return _LIMITS[key].get()
