"""A semaphore for tasks of several event loops, since asyncio's is bound to one."""

import asyncio
import threading
from collections import deque
from types import TracebackType


class CrossLoopSemaphore:
    """Admits a number of tasks at once; waiters enter in order. Use with `async with`."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._free > 0 and not self._waiting:
                self._free -= 1
                return
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            with self._lock:
                is_waiting = place in self._waiting
                if is_waiting:
                    self._waiting.remove(place)
            if not is_waiting:  # woken while cancelled: the next waiter enters
                self._release()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    def _release(self) -> None:
        with self._lock:
            while self._waiting:
                if _wake_waiter(self._waiting.popleft()):
                    return
            self._free += 1


def _wake_waiter(place: asyncio.Future[None]) -> bool:
    """Wake a waiter; return False when its event loop is closed."""
    loop = place.get_loop()
    if loop is asyncio.get_running_loop():
        _grant(place)
        return True
    try:
        loop.call_soon_threadsafe(_grant, place)
    except RuntimeError:
        return False
    return True


def _grant(place: asyncio.Future[None]) -> None:
    if not place.done():
        place.set_result(None)
