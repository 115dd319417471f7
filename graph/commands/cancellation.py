"""Ctrl-C: the run is cancelled, reported, and over within two seconds."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Thread, Timer, current_thread, main_thread
from typing import Any, Final, ParamSpec, TypeVar

from graph.commands.process import Cancelled, exit_process
from graph.garbage_collection import spare_existing_objects

CANCEL_GRACE_S: Final = 1.2
"""Time for a cancelled run to clean up; after it the process is ended as by a kill."""

Params = ParamSpec("Params")
Result = TypeVar("Result")


def run_cancellable(work: Coroutine[Any, Any, Result], *, farewell: Callable[[], str]) -> Result:
    """Run a coroutine to its end, or to the first SIGINT or SIGTERM.

    Raises:
        Cancelled: a signal ended it; `farewell` returned the message.
    """
    spare_existing_objects()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_default_executor(_DaemonThreadExecutor())
        task = loop.create_task(work)
        with _cancel_on_signals(task, farewell) as stopped:
            try:
                return runner.run(_await_task(task))
            except asyncio.CancelledError:
                if not stopped.is_set():
                    raise
                raise Cancelled(farewell()) from None


class _DaemonThreadExecutor(ThreadPoolExecutor):
    """A daemon thread for each job: a blocked tool delays neither other jobs nor the exit."""

    def submit(
        self, fn: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Future[Result]:
        outcome: Future[Result] = Future()

        def work() -> None:
            if not outcome.set_running_or_notify_cancel():
                return
            try:
                outcome.set_result(fn(*args, **kwargs))
            except BaseException as error:  # the caller that waits for the outcome raises it
                outcome.set_exception(error)

        Thread(target=work, daemon=True).start()
        return outcome


async def _await_task(task: "asyncio.Task[Result]") -> Result:
    return await task


@contextmanager
def _cancel_on_signals(task: "asyncio.Task[Any]", farewell: Callable[[], str]) -> Iterator[Event]:
    stopped = Event()
    watchdog = Timer(
        CANCEL_GRACE_S, lambda: exit_process(message="" if task.done() else farewell())
    )
    watchdog.daemon = True

    def stop(*_: object) -> None:
        if stopped.is_set():
            exit_process()
        stopped.set()
        task.get_loop().call_soon_threadsafe(task.cancel)
        watchdog.start()

    if current_thread() is not main_thread():
        yield stopped
        return
    former = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
        watchdog.cancel()  # the task ended in time
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
