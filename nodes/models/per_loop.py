"""One value per running event loop, because asyncio's primitives are bound to a loop."""

import asyncio
from collections.abc import Callable
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
