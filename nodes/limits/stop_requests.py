"""The tasks of a run that a human has stopped: what works on them is cancelled."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

STOPPED: Final = "stopped by a human"
"""The error of a task's report."""
ALL_TASKS: Final = "*"
"""In place of a task's path: all tasks that have not ended. No task has this id."""
MAX_PATH_CHARS: Final = 1_000
"""Longer than the path of any task; who writes a longer one means none."""


class TaskStopped(Exception):
    """A human has stopped the task. Caught where its report is built."""


class StopRequests:
    """Bound to the event loop of its run; tasks of inner teams are `outer/inner`."""

    def __init__(self) -> None:
        self._stopped = set[str]()
        self.on_added: Callable[[str], None] | None = None
        self._timers = dict[asyncio.Timeout, str]()

    def add(self, task: str) -> None:
        """Stop a task, or all: what works on it is cancelled, what has not begun is skipped."""
        if len(task) > MAX_PATH_CHARS or self.includes(task):
            return
        waiting = [timer for timer, path in self._timers.items() if not self.includes(path)]
        self._stopped.add(task)
        if self.on_added:
            self.on_added(task)
        for timer in waiting:
            if self.includes(self._timers[timer]):
                timer.reschedule(asyncio.get_running_loop().time())

    def includes(self, task: str) -> bool:
        """Return whether a task, or an outer task of it, was stopped."""
        parts = task.split("/")
        paths = {"/".join(parts[: count + 1]) for count in range(len(parts))}
        return bool(self._stopped & {ALL_TASKS, *paths})

    @asynccontextmanager
    async def enforce(self, task: str) -> AsyncIterator[None]:
        """Cancel the body when a human stops the task.

        Raises:
            TaskStopped: it was stopped, perhaps before.
        """
        if self.includes(task):
            raise TaskStopped
        timer = asyncio.timeout(None)
        self._timers[timer] = task
        try:
            async with timer:
                yield
        except TimeoutError:
            if timer.expired():
                raise TaskStopped from None
            raise
        finally:
            del self._timers[timer]
