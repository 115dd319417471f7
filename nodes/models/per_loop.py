"""One of something per running event loop, because asyncio's primitives belong to a loop."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Makes a value when a loop first asks for it; forgets those of closed loops."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: dict[asyncio.AbstractEventLoop, T] = {}

    def get(self) -> T:
        """Return the running loop's own value."""
        loop = asyncio.get_running_loop()
        found = self._values.get(loop)
        if found is None:
            for other in [known for known in list(self._values) if known.is_closed()]:
                self._values.pop(other, None)
            found = self._values[loop] = self._make()
        return found

    def forget(self) -> T | None:
        """Drop the running loop's value and give it back."""
        return self._values.pop(asyncio.get_running_loop(), None)
