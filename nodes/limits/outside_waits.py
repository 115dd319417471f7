"""How long a run's tasks wait for what runs elsewhere, and how much of that they wait together."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from state import Usage


@dataclass
class OutsideWaits:
    """The waits of a run's tasks for models and tools outside this process.

    A call counts where its seconds do not compete for this machine's processor: a call of a model
    that is not the built-in one, of a worker on another server, or of a tool that may send
    something outside. A child process does compete, also one that asks a database: six statements,
    each in its own child, were together 1.0 times as fast as one after another on two cores (0.96
    to 1.30 in five pairs), while their seconds add up to 5.8 times the time that they took. Seconds
    in which this process computed are left out.
    """

    clock: Callable[[], float] = time.monotonic
    processor_clock: Callable[[], float] = time.process_time
    _open: Counter[str] = field(default_factory=Counter)
    """The calls in flight, by the path of the task."""
    _waited: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _overlapped: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _counted_until: tuple[float, float] = (0.0, 0.0)
    """On the clock and on the processor's."""

    @contextmanager
    def count(self, task: str) -> Iterator[None]:
        """Count the seconds inside as waits of a task; calls of one task at once count once."""
        self._advance()
        self._open[task] += 1
        try:
            yield
        finally:
            self._advance()
            self._open[task] -= 1
            self._open += Counter()  # drops the task that waits no more

    def take(self, task: str) -> Usage:
        """Return the waits of a task since they were last taken."""
        waited_s, overlapped_s = self._waited.pop(task, 0.0), self._overlapped.pop(task, 0.0)
        return Usage(waited_s=waited_s, overlapped_s=overlapped_s)

    def _advance(self) -> None:
        """Share the seconds since the last change among the tasks that wait."""
        (clock_s, processor_s), tasks = self._counted_until, list(self._open)
        self._counted_until = (self.clock(), self.processor_clock())
        now_s, now_processor_s = self._counted_until
        idle_s = max(0.0, now_s - clock_s - (now_processor_s - processor_s))
        for task in tasks:
            self._waited[task] += idle_s
            self._overlapped[task] += idle_s * (len(tasks) - 1) / len(tasks)
