"""An event loop whose clock jumps to the next timer as soon as nothing else is left to do."""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from math import inf
from typing import Any, Final

POLL_S: Final = 0.05
"""Between two looks whether a thread has ended."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs timers without waiting for them; work in threads is waited for."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.on_idle: Callable[[float], None] = _do_nothing
        """Called with the time to which the clock is to jump; infinite without a timer."""
        self._threads = 0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return the seconds of the virtual clock."""
        return self.now_s

    def advance_to(self, now_s: float) -> None:
        """Set the clock; it never goes back."""
        self.now_s = max(self.now_s, now_s)

    def run_in_executor(  # type: ignore[override]  # a future of what `func` returns
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        """Run a function in a thread; until it ends, the clock does not move."""
        self._threads += 1
        work = super().run_in_executor(executor, func, *args)
        work.add_done_callback(self._end_thread)
        return work

    @property
    def has_threads(self) -> bool:
        """Whether a thread is at work."""
        return self._threads > 0

    @property
    def has_work(self) -> bool:
        """Whether a callback is ready, such as one that `on_idle` has planned."""
        return bool(self._ready)  # type: ignore[attr-defined]  # asyncio's own name, in all releases

    def _end_thread(self, _: object) -> None:
        self._threads -= 1


def _do_nothing(_: float) -> None:
    pass


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for threads only; where the loop would sleep, it moves its clock."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found or timeout == 0:
            return found
        if self._loop.has_threads:
            return super().select(POLL_S)
        self._loop.on_idle(self._loop.now_s + (inf if timeout is None else timeout))
        if self._loop.has_work:
            return found
        if timeout is None:  # only a signal can come
            return super().select(POLL_S)
        self._loop.advance_to(self._loop.now_s + timeout)
        return found
