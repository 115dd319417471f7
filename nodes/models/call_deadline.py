"""Deadline of a call, or of an attempt at a task: its own seconds, within its run's."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from nodes.errors import CallTimedOut, DeadlinePassed

NEARLY_OVER_SHARE = 0.1
"""Share of a call's seconds; a worker whose time ends with the call's cuts it slightly earlier."""

_attempt: ContextVar["CallDeadline | None"] = ContextVar("attempt", default=None)


def has_time_left(share: float, *, least_s: float = 0.0) -> bool:
    """Return whether a share of the current attempt's seconds is left; true outside of one.

    Args:
        least_s: seconds that must be left in any case.
    """
    deadline = _attempt.get()
    if deadline is None:
        return True
    return deadline.get_remaining_s() >= max(share * deadline.limit_s, least_s)


class CallDeadline:
    """Counts a call's own seconds except while it queues; the run's deadline never pauses."""

    def __init__(self, call_s: float, run_s: float | None = None) -> None:
        now = time.monotonic()
        self.call_s, self._run_s = call_s, run_s
        self._call_ends_s = now + call_s
        self._run_ends_s = float("inf") if run_s is None else now + run_s
        self._timer: asyncio.Timeout | None = None
        self._paused_s: float | None = None

    @property
    def limit_s(self) -> float:
        """The seconds it had at its start."""
        return self.call_s if self._run_s is None else min(self.call_s, self._run_s)

    def get_remaining_s(self) -> float:
        """Return the seconds left; negative after the deadline."""
        return min(self._call_ends_s, self._run_ends_s) - time.monotonic()

    def is_nearly_over(self) -> bool:
        """Return whether the call's own seconds are used up: a call cut now was not answered."""
        return self._call_ends_s - time.monotonic() <= self.call_s * NEARLY_OVER_SHARE

    @asynccontextmanager
    async def enforce(self, model: str) -> AsyncIterator[None]:
        """Cancel the body at the deadline.

        Raises:
            CallTimedOut: the deadline has passed.
        """
        left_s = self.get_remaining_s()
        if left_s <= 0:
            raise self._build_timeout_error(model)
        try:
            async with asyncio.timeout(left_s) as self._timer:
                yield
        except TimeoutError:
            raise self._build_timeout_error(model) from None
        finally:
            self._timer = None

    @asynccontextmanager
    async def enforce_on_attempt(self) -> AsyncIterator[None]:
        """Cancel the body at the deadline; time that its calls queue is not counted.

        Raises:
            TimeoutError: the deadline has passed.
        """
        token = _attempt.set(self)
        try:
            async with asyncio.timeout(self.get_remaining_s()) as self._timer:
                yield
        finally:
            self._timer = None
            _attempt.reset(token)

    @contextmanager
    def pause_while_queueing(self) -> Iterator[None]:
        """Stop counting the seconds of the call and of its attempt while the body queues."""
        waiting = [deadline for deadline in (self, _attempt.get()) if deadline is not None]
        for deadline in waiting:
            deadline.pause()
        try:
            yield
        finally:
            for deadline in waiting:
                deadline.resume()

    def pause(self) -> None:
        """Stop counting the call's own seconds: a long queue does not mean a slow endpoint."""
        self._paused_s = time.monotonic()
        self._reschedule(self._run_ends_s)

    def resume(self) -> None:
        """Continue counting the call's own seconds."""
        if self._paused_s is not None:
            self._call_ends_s += time.monotonic() - self._paused_s
            self._paused_s = None
            self._reschedule(min(self._call_ends_s, self._run_ends_s))

    def _reschedule(self, ends_s: float) -> None:
        if self._timer is None or self._timer.expired():
            return
        loop_s = asyncio.get_running_loop().time() - time.monotonic()
        self._timer.reschedule(None if ends_s == float("inf") else ends_s + loop_s)

    def _build_timeout_error(self, model: str) -> CallTimedOut:
        if self._run_ends_s <= time.monotonic():
            return DeadlinePassed(
                f"no answer from {model} before the run's deadline",
                next="allow more time (--deadline, SUPERVISE_DEADLINE_S), or ask for less",
            )
        return CallTimedOut(
            f"no answer from {model} within {self.call_s:g} s",
            next="try again, or allow a call more time",
        )
