"""Sliding-window rate limit: at most N in any minute."""

import asyncio
import threading
import time
from collections import deque
from dataclasses import dataclass

from nodes.models.cross_loop_semaphore import CrossLoopSemaphore

PERIOD_S = 60.0


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
        self._turn = CrossLoopSemaphore(1)
        self._lock = threading.Lock()

    async def take(self, amount: float = 1.0) -> WindowEntry:
        """Wait until the amount fits; an amount over the limit waits for an empty window."""
        async with self._turn:
            while (wait_s := self.get_wait_s(amount)) > 0:  # noqa: ASYNC110 - only time makes room
                await asyncio.sleep(wait_s)
            return self.record(min(amount, self.limit))

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
        """Return the seconds until the amount fits; 0 when it does."""
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
