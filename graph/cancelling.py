"""Ctrl-C: what runs is cancelled, said, and over within two seconds."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from threading import Event, Timer, current_thread, main_thread
from typing import Any, Final, NoReturn, TypeVar

EXIT_CODE: Final = 130
GRACE_S: Final = 1.5
"""What a cancelled run has to clean up; threads that block longer are left behind."""

Result = TypeVar("Result")


class Cancelled(Exception):
    """A person ended the run; the message says what is kept."""


def run_cancellable(work: Coroutine[Any, Any, Result], *, farewell: Callable[[], str]) -> Result:
    """Run a coroutine to its end, or to the first SIGINT or SIGTERM.

    Raises:
        Cancelled: it was ended so; `farewell` gave the message.
    """
    with asyncio.Runner() as runner:
        task = runner.get_loop().create_task(work)
        with _signals_cancel(task, farewell) as stopped:
            try:
                return runner.run(_result_of(task))
            except asyncio.CancelledError:
                if not stopped.is_set():
                    raise
        raise Cancelled(farewell())


async def _result_of(task: "asyncio.Task[Result]") -> Result:
    return await task


@contextmanager
def _signals_cancel(task: "asyncio.Task[Any]", farewell: Callable[[], str]) -> Iterator[Event]:
    stopped = Event()

    def leave(message: str = "") -> NoReturn:
        if message and sys.stderr is not None:
            os.write(2, f"{message}\n".encode(errors="replace"))
        os._exit(EXIT_CODE)

    def stop(*_: object) -> None:
        if stopped.is_set():
            leave()
        stopped.set()
        task.get_loop().call_soon_threadsafe(task.cancel)
        # A thread that blocks would keep the interpreter alive for as long as it likes.
        watchdog = Timer(GRACE_S, lambda: leave("" if task.done() else farewell()))
        watchdog.daemon = True
        watchdog.start()

    if current_thread() is not main_thread():
        yield stopped
        return
    former = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
