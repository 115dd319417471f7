"""Where the workers of one dispatch leave their reports and find those they wait for.

All tasks of a plan are sent in one superstep; a worker's first step waits here for its own inputs.
It holds nothing that is not in the checkpoint too, and may vanish at any time.
"""

import asyncio
from dataclasses import dataclass, field

from state import Report


@dataclass
class Dispatch:
    """One slot per task. Bound to the event loop of its run."""

    steps_at_start: int
    """Attempts that the run's step cap allowed when the tasks were sent."""
    attempts: dict[str, int] = field(default_factory=dict)
    """Attempts since, by task."""
    report_futures: dict[str, asyncio.Future[Report | None]] = field(default_factory=dict)
    start_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    starting_task: str = ""

    async def wait_to_start(self, task: str) -> None:
        """Let one worker start at a time, in the order of the plan.

        Starting a worker's graph takes some milliseconds of processor time. Were all started at
        once, those that can work would share them with those that can only wait.
        """
        await self.start_lock.acquire()
        self.starting_task = task

    def finish_start(self, task: str) -> None:
        """Let the next worker start; does nothing when this one has said so before."""
        if self.starting_task == task:
            self.starting_task = ""
            self.start_lock.release()

    is_stopped: bool = False
    """True once a report speaks against the plan: what runs may finish, what waits is held."""

    async def wait_for_report(self, task: str) -> Report | None:
        """Wait for a task's report; None when it will not come in this dispatch."""
        return await asyncio.shield(self._get_future(task))

    def has_ended(self, task: str) -> bool:
        """Return whether a wait for a task's report would end at once."""
        return self._get_future(task).done()

    def publish_report(self, task: str, report: Report) -> None:
        """Wake the tasks that wait for this one. The first report of a task counts."""
        self._set_result(task, report)
        if report.invalidates:
            self._stop_waiting()

    def release(self, task: str) -> None:
        """Let the tasks that wait for this one proceed without its report."""
        self._set_result(task, None)

    def spend_step(self, task: str) -> bool:
        """Count one attempt at a task against the step cap; False when none is left."""
        if self.count_steps_left() <= 0:
            return False
        self.attempts[task] = self.attempts.get(task, 0) + 1
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

    def _stop_waiting(self) -> None:
        self.is_stopped = True
        for slot in self.report_futures.values():
            if not slot.done():
                slot.set_result(None)

    def _get_future(self, task: str) -> asyncio.Future[Report | None]:
        if task not in self.report_futures:
            self.report_futures[task] = asyncio.get_running_loop().create_future()
            if self.is_stopped:
                self.report_futures[task].set_result(None)
        return self.report_futures[task]

    def _set_result(self, task: str, report: Report | None) -> None:
        if not self._get_future(task).done():
            self._get_future(task).set_result(report)
