"""Groups writes that wait at the same time, so that they share one commit."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Write = TypeVar("Write")
Outcome = BaseException | None
"""Of one write: None when it is saved."""


class WriteGroup(Generic[Write]):
    """Collects the writes of one event loop and passes them on together, one group at a time.

    Writes of one turn of the loop form a group, and so do all that arrive while one is being saved.

    Args:
        save: saves a group and returns the outcome of each write, in order.
    """

    def __init__(self, save: Callable[[Sequence[Write]], Awaitable[Sequence[Outcome]]]) -> None:
        self._save = save
        self._waiting: list[tuple[Write, asyncio.Future[None]]] = []
        self._saving: asyncio.Task[None] | None = None

    async def write(self, write: Write) -> None:
        """Return when a write is saved, or raise its error.

        A caller that is cancelled does not take its write back.
        """
        outcome = asyncio.get_running_loop().create_future()
        self._waiting.append((write, outcome))
        if self._saving is None or self._saving.done():
            self._saving = asyncio.create_task(self._save_groups())
        await outcome

    async def finish(self) -> None:
        """Return when no write waits."""
        while self._saving is not None and not self._saving.done():
            await asyncio.wait([self._saving])

    async def _save_groups(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                outcomes = await self._save([write for write, _ in group])
            except Exception as error:  # raised by each caller that waits
                outcomes = [error] * len(group)
            for (_, waiting), problem in zip(group, outcomes, strict=True):
                if waiting.done():  # its caller was cancelled
                    continue
                if problem is None:
                    waiting.set_result(None)
                else:
                    waiting.set_exception(problem)
