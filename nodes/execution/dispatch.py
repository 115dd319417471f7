"""Where the workers of one dispatch leave their reports and find those they wait for.

All tasks of a plan are sent in one superstep; a worker's first step waits here for its own inputs.
The superstep's monitor reads reports that are not as planned: while it decides, no waiting task
starts. It holds nothing that is not in the checkpoint too, and may vanish at any time.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodes.limits.recorder import pass_point
from state import Report, TodoStatus, WorkerOutput


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
        await pass_point("news")
        if self._open_tasks:
            self._has_news.clear()
        read, self._unread = self._unread, []
        return read


StatusListener = Callable[[str, TodoStatus], None]
"""Called with a task's id when it begins an attempt and when it ends."""


def ignore_status(task: str, status: TodoStatus) -> None:
    """Show nothing."""


@dataclass
class Dispatch:
    """One slot per task. Bound to the event loop of its run."""

    steps_at_start: int
    """Attempts that the run's step cap allowed when the tasks were sent."""
    graph_ns: str = ""
    """Of the supervisor's graph."""
    attempts: dict[str, int] = field(default_factory=dict)
    """Attempts since, by task."""
    report_futures: dict[str, asyncio.Future[Report | None]] = field(default_factory=dict)
    saved_outputs: Mapping[str, WorkerOutput] = field(default_factory=dict)
    """What tasks had returned before a crash, by task."""
    asking: Collection[str] = ()
    """LangGraph's ids of the nodes that had begun before a crash, and waited for a human."""

    is_stopped: bool = False
    """True once the plan must change: what runs may finish, what waits is held."""
    started: set[str] = field(default_factory=set)
    """Tasks that have begun; no revision takes them back."""
    saved_version: int = 0
    """Of the last plan that a monitor had made in this dispatch before a crash; 0 without one."""
    withdrawn: dict[str, int] = field(default_factory=dict)
    """Tasks that a revision changed or dropped: the version of the plan that did it."""
    watch: PlanWatch | None = None
    may_start: asyncio.Event = field(default_factory=asyncio.Event)
    show_status: StatusListener = ignore_status
    """Shows a chat how far a task is."""
    _withdrawals: "dict[str, asyncio.Future[None]]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.may_start.set()

    async def wait_for_inputs(
        self, task: str, needed: Sequence[str], *, version: int
    ) -> dict[str, Report] | None:
        """Wait until a task may start; return the reports it needs that came, by task.

        None when a version of the plan later than the task's own has changed or dropped the task.
        """
        reports = [self._get_future(name) for name in needed]
        never = asyncio.get_running_loop().create_future()
        withdrawal = self._withdrawals.setdefault(task, never)
        # `wait` does not cancel what it waits for, which others wait for too.
        while not self.is_withdrawn(task, version) and (
            missing := [each for each in reports if not each.done()]
        ):
            either: set[asyncio.Future[Any]] = {*missing, withdrawal}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        await self.may_start.wait()
        await pass_point(f"begin {task}")
        if self.is_withdrawn(task, version):
            return None
        if not self.is_stopped:
            self.started.add(task)
        arrived = [each.result() for each in reports]
        return {report.task: report for report in arrived if report is not None}

    def publish_report(self, task: str, report: Report) -> None:
        """Wake the tasks that wait for this one. The first report of a task counts."""
        if self.watch is not None and self.watch.note_report(report):
            self.may_start.clear()
        self.show_status(task, "completed")
        self._set_result(task, report)

    def open_watch(
        self, tasks: Iterable[str], is_unexpected: Callable[[Report], bool]
    ) -> PlanWatch:
        """Return a watch over tasks that have no report yet, for the monitor.

        Reports that came before it are the monitor's to read.
        """
        self.watch = PlanWatch(
            {name for name in tasks if not self._get_future(name).done()}, is_unexpected
        )
        return self.watch

    def close_watch(self) -> None:
        """Let tasks start again, without a monitor."""
        self.watch = None
        self.may_start.set()

    def list_reports(self) -> dict[str, Report]:
        """Return the reports that have come in this dispatch, by task."""
        return {
            name: report
            for name, future in self.report_futures.items()
            if future.done() and (report := future.result()) is not None
        }

    def is_settled(self, task: str) -> bool:
        """Return whether a task has its report, or will not have one in this dispatch."""
        return task in self.report_futures and self.report_futures[task].done()

    def list_running(self) -> list[str]:
        """Return the tasks that have begun and have no report; one may wait for a human."""
        reported = self.list_reports()
        return [name for name in sorted(self.started) if name not in reported]

    def reopen(self, tasks: Iterable[str]) -> None:
        """Let tasks report that an earlier version of the plan had dropped."""
        for name in tasks:
            if self.is_settled(name) and self.report_futures[name].result() is None:
                del self.report_futures[name]

    def is_withdrawn(self, task: str, version: int) -> bool:
        """Return whether a plan later than a version has changed or dropped a task."""
        return self.withdrawn.get(task, 0) > version

    def withdraw(self, tasks: Mapping[str, int], *, dropped: Iterable[str]) -> None:
        """Hold waiting tasks that a revision changed or dropped.

        Args:
            tasks: the version of the plan that did it, by task.
            dropped: those of them that the plan no longer has; their reports will never come.
        """
        self.withdrawn.update(tasks)
        for name in tasks:
            withdrawal = self._withdrawals.pop(name, None)
            if withdrawal is not None and not withdrawal.done():
                withdrawal.set_result(None)
        for name in dropped:
            self.release(name)

    def stop(self) -> None:
        """Hold all tasks that wait: the supervisor changes the plan when the others have ended."""
        self.is_stopped = True
        for slot in self.report_futures.values():
            if not slot.done():
                slot.set_result(None)
        if self.watch is not None:
            self.watch.finish()
        self.may_start.set()

    def release(self, task: str) -> None:
        """Let the tasks that wait for this one proceed without its report."""
        self._set_result(task, None)

    def spend_step(self, task: str) -> bool:
        """Count one attempt at a task against the step cap; False when none is left."""
        if self.count_steps_left() <= 0:
            return False
        self.attempts[task] = self.attempts.get(task, 0) + 1
        self.started.add(task)
        self.show_status(task, "in_progress")
        return True

    def record_attempts(self, task: str, attempts: int) -> None:
        """Count attempts that were made before this process resumed the dispatch."""
        self.attempts[task] = max(self.attempts.get(task, 0), attempts)

    def count_steps_left(self) -> int:
        """Return the attempts that the step cap still allows."""
        return self.steps_at_start - sum(self.attempts.values())

    def is_idle(self) -> bool:
        """Return whether no task waits for a report."""
        return all(slot.done() for slot in self.report_futures.values())

    def _get_future(self, task: str) -> asyncio.Future[Report | None]:
        if task not in self.report_futures:
            self.report_futures[task] = asyncio.get_running_loop().create_future()
            if self.is_stopped:
                self.report_futures[task].set_result(None)
        return self.report_futures[task]

    def _set_result(self, task: str, report: Report | None) -> None:
        if not self._get_future(task).done():
            self._get_future(task).set_result(report)
            if self.watch is not None:
                self.watch.settle(task)
