"""The time one call, or one attempt at a task, may take: its own seconds, within its run's."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from nodes.errors import CallTimedOut, DeadlinePassed

ALL_BUT = 0.1
"""Part of a call's seconds; a worker whose own time ends with the call's cuts it a bit earlier."""

_attempt: ContextVar["Deadline | None"] = ContextVar("attempt", default=None)


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

    @asynccontextmanager
    async def of_attempt(self) -> AsyncIterator[None]:
        """Cut what runs inside when the time is over; queues of its calls are not counted.

        Raises:
            TimeoutError: it was.
        """
        token = _attempt.set(self)
        try:
            async with asyncio.timeout(self.remaining_s()) as self._timer:
                yield
        finally:
            self._timer = None
            _attempt.reset(token)

    @contextmanager
    def queueing(self) -> Iterator[None]:
        """Count neither the call's own seconds nor its attempt's, as long as they wait."""
        waiting = [deadline for deadline in (self, _attempt.get()) if deadline is not None]
        for deadline in waiting:
            deadline.pause()
        try:
            yield
        finally:
            for deadline in waiting:
                deadline.go_on()

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
            return DeadlinePassed(
                f"no answer from {who} before the run's deadline",
                next="give the run a longer deadline, or ask for less",
            )
        return CallTimedOut(
            f"no answer from {who} within {self.call_s:g} s",
            next="try again, or allow a call more time",
        )
