"""An event loop whose clock jumps to the next timer as soon as nothing else is left to do."""

import asyncio
import gc
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from math import inf
from typing import Any, Final, TypeVar

T = TypeVar("T")
END_S: Final = 60.0
"""Of the virtual clock, for what is cancelled to end."""
POLL_S: Final = 0.05
"""Between two looks for a signal, where nothing is planned."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs timers without waiting for them, and in its own thread what is for another one."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.on_idle: Callable[[float], None] = _do_nothing
        """Called with the time to which the clock is to jump; infinite without a timer."""
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
        """Run a function at once, so that its end has one place in the order."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # of any function; raised where the future is awaited
            done.set_exception(error)
        return done


def run_virtually(start: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """Return what a coroutine returns on a virtual loop of its own.

    Meanwhile nothing is collected: what a replay makes is in use until its end.
    """
    loop, collects = VirtualLoop(), gc.isenabled()
    gc.disable()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(start(loop))
    finally:
        loop.on_idle = _do_nothing
        for task in (left := asyncio.all_tasks(loop)):
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=END_S))
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()
        if collects:
            gc.enable()


def _do_nothing(_: float) -> None:
    pass


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nothing; where the loop would sleep, it moves its clock."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found or timeout == 0:
            return found
        self._loop.on_idle(self._loop.now_s + (inf if timeout is None else timeout))
        if self._loop._ready:  # type: ignore[attr-defined]  # asyncio's own name, in all releases
            return found
        if timeout is None:  # only a signal can come
            return super().select(POLL_S)
        self._loop.advance_to(self._loop.now_s + timeout)
        return found
