"""One background event loop for synchronous callers, and for loops that must not block."""

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

CANCEL_GRACE_S = 2.0
T = TypeVar("T")


class BlockingPortal:
    """A daemon thread that runs an event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="supervisor", daemon=True
        )
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result; an interrupt of the caller cancels it."""
        running, ended = self._start_task(work)
        try:
            return running.result()
        finally:  # after Ctrl-C too: cancel work whose caller has gone
            self._cancel(running, ended)

    def iterate(self, parts: AsyncIterator[T]) -> Iterator[T]:
        """Yield the parts of an async stream; leaving the loop early cancels the stream."""
        arrived: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

        async def pump() -> None:
            async for part in parts:
                arrived.put((True, part))

        running, ended = self._start_task(pump())
        running.add_done_callback(lambda _: arrived.put((False, None)))
        try:
            while (step := arrived.get())[0]:
                yield step[1]
            running.result()
        finally:
            self._cancel(running, ended)

    def _start_task(self, work: Coroutine[Any, Any, T]) -> tuple[Future[T], threading.Event]:
        ended = threading.Event()

        async def run() -> T:
            try:
                return await work
            finally:
                ended.set()

        return asyncio.run_coroutine_threadsafe(run(), self._loop), ended

    def _cancel(self, running: Future[Any], ended: threading.Event) -> None:
        """Cancel a running task, and wait a moment for its cleanup."""
        if running.cancel() and threading.current_thread() is not self._thread:
            ended.wait(CANCEL_GRACE_S)


@cache
def get_portal() -> BlockingPortal:
    """Return the portal of the process."""
    return BlockingPortal()
