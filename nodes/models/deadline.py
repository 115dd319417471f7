"""The time one call may take: its own seconds, and no more than its run has left."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nodes.errors import CallTimedOut

ALL_BUT = 0.1
"""Part of a call's seconds; a worker whose own time ends with the call's cuts it a bit earlier."""


class Deadline:
    """Counts a call's own seconds while it is not queueing, and its run's always."""

    def __init__(self, call_s: float, run_s: float | None = None) -> None:
        now = time.monotonic()
        self.call_s, self._run_s = call_s, run_s
        self._own_s = now + call_s
        self._run_ends_s = float("inf") if run_s is None else now + run_s
        self._timer: asyncio.Timeout | None = None
        self._paused_s: float | None = None

    def remaining_s(self) -> float:
        """Give the seconds left; negative when it is over."""
        return min(self._own_s, self._run_ends_s) - time.monotonic()

    def is_all_but_over(self) -> bool:
        """Say whether the call's own seconds are used up: who is cut now was not answered."""
        return self._own_s - time.monotonic() <= self.call_s * ALL_BUT

    @asynccontextmanager
    async def enforced(self, who: str) -> AsyncIterator[None]:
        """Cut what runs inside when the time is over.

        Raises:
            CallTimedOut: it was.
        """
        left_s = self.remaining_s()
        if left_s <= 0:
            raise self._over(who)
        try:
            async with asyncio.timeout(left_s) as self._timer:
                yield
        except TimeoutError:
            raise self._over(who) from None
        finally:
            self._timer = None

    def pause(self) -> None:
        """Stop counting the call's own seconds: a long queue is not a slow endpoint."""
        self._paused_s = time.monotonic()
        self._reset(self._run_ends_s)

    def go_on(self) -> None:
        """Count them again."""
        if self._paused_s is not None:
            self._own_s += time.monotonic() - self._paused_s
            self._paused_s = None
            self._reset(min(self._own_s, self._run_ends_s))

    def _reset(self, ends_s: float) -> None:
        if self._timer is None or self._timer.expired():
            return
        loop_s = asyncio.get_running_loop().time() - time.monotonic()
        self._timer.reschedule(None if ends_s == float("inf") else ends_s + loop_s)

    def _over(self, who: str) -> CallTimedOut:
        if self._run_ends_s <= time.monotonic():
            return CallTimedOut(f"no answer from {who} before the run's deadline")
        return CallTimedOut(
            f"no answer from {who} within {self.call_s:g} s",
            next="try again, or allow a call more time",
        )
