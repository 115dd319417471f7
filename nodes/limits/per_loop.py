"""One value per running event loop, because asyncio's primitives are bound to a loop."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Makes a value on a loop's first use; drops those of closed loops.

    Args:
        close: called with a value that was opened, when its loop ends: the loop closes its
            unfinished asynchronous generators then, and one of them keeps the value.
    """

    def __init__(
        self, make: Callable[[], T], close: Callable[[T], Awaitable[None]] | None = None
    ) -> None:
        self._make, self._close = make, close
        self._values: dict[asyncio.AbstractEventLoop, T] = {}
        self._keepers: dict[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = {}

    def get(self) -> T:
        """Return the running loop's value."""
        loop = asyncio.get_running_loop()
        if loop not in self._values:
            for other in [known for known in list(self._values) if known.is_closed()]:
                self._values.pop(other, None)
                self._keepers.pop(other, None)
            self._values[loop] = self._make()
        return self._values[loop]

    async def open(self) -> T:
        """Return the running loop's value, which is closed when the loop ends."""
        value, loop = self.get(), asyncio.get_running_loop()
        if self._close and loop not in self._keepers:
            self._keepers[loop] = self._hold_open(value)
            await anext(self._keepers[loop])
        return value

    def forget(self) -> T | None:
        """Remove and return the running loop's value; not of one that is closed with its loop."""
        return self._values.pop(asyncio.get_running_loop(), None)

    async def _hold_open(self, value: T) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            if self._close:
                await self._close(value)
