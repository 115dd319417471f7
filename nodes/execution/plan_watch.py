"""What the monitor waits for: reports that are not as planned, and the end of its tasks."""

import asyncio
from collections.abc import Callable

from state import Report


class PlanWatch:
    """Bound to the event loop of its run; one report costs the same among five and among 1,000."""

    def __init__(self, open_tasks: set[str], is_unexpected: Callable[[Report], bool]) -> None:
        self._open_tasks, self._is_unexpected = open_tasks, is_unexpected
        self._unread = list[Report]()
        self._has_news = asyncio.Event()
        if not open_tasks:
            self._has_news.set()

    def note_report(self, report: Report) -> bool:
        """Take a report that is not as planned, and return whether it is one."""
        if not self._is_unexpected(report):
            return False
        self._unread.append(report)
        self._has_news.set()
        return True

    def settle(self, task: str) -> None:
        """Note that a task has its report, or will not have one."""
        self._open_tasks.discard(task)
        if not self._open_tasks:
            self._has_news.set()

    @property
    def has_unread(self) -> bool:
        """Whether there are reports that `wait` has not returned yet."""
        return bool(self._unread)

    def finish(self) -> None:
        """Note that nothing is left to wait for."""
        self._open_tasks.clear()
        self._has_news.set()

    async def wait(self) -> list[Report]:
        """Wait for reports that are not as planned; none when all tasks have ended."""
        await self._has_news.wait()
        if self._open_tasks:
            self._has_news.clear()
        read, self._unread = self._unread, []
        return read
