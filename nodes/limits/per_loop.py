"""One value per running event loop, because asyncio's primitives are bound to a loop."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Makes a value on a loop's first use; drops those of closed loops."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: dict[asyncio.AbstractEventLoop, T] = {}

    def get(self) -> T:
        """Return the running loop's value."""
        loop = asyncio.get_running_loop()
        value = self._values.get(loop)
        if value is None:
            for other in [known for known in list(self._values) if known.is_closed()]:
                self._values.pop(other, None)
            value = self._values[loop] = self._make()
        return value

    def forget(self) -> T | None:
        """Remove and return the running loop's value."""
        return self._values.pop(asyncio.get_running_loop(), None)


class LoopResource(Generic[T]):
    """Makes a value that the running loop closes when it ends.

    A loop closes its unfinished asynchronous generators when it ends, so a generator keeps the
    value.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]]) -> None:
        self._make, self._close = make, close
        self._value: T | None = None

    async def open(self) -> T:
        """Return the value, which is made on first use."""
        if self._value is None:
            self._value = self._make()
            self._keeper = self._hold_open(self._value)
            await anext(self._keeper)
        return self._value

    async def _hold_open(self, value: T) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await self._close(value)
