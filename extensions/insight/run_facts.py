"""Reads a trace into what the search for causes asks: tasks, their edges, their last attempts.

What a trace holds is data of anyone: it is compared as it is, and made printable where it is shown.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

Json = Mapping[str, Any]


class LoggedEvent:
    """An event, and its place in the log: the order of time, whatever a clock did."""

    def __init__(self, at: int, data: Json) -> None:
        self.at, self.data = at, data
        self.kind, self.error = self.read("kind"), self.read("error")
        self.task, self.within = self.read("task"), self.read("within")
        self.seconds = float(data.get("t") or 0.0)

    def read(self, name: str) -> str:
        """Return a value as text; empty where the event has none."""
        value = self.data.get(name)
        return "" if value is None else str(value)

    def get(self, name: str, key: str) -> Any:
        """Return a value of a mapping in it; None without one."""
        return (self.data.get(name) or {}).get(key)


class TaskFacts:
    """A task of the last plan, or of a team inside one, as the run left it."""

    def __init__(self, task: Json, within: str) -> None:
        prefix, self.within = f"{within}/" if within else "", within
        self.id, self.report = str(task["id"]), task.get("report") or {}
        self.path = f"{prefix}{self.id}"
        self.worker = str(self.report.get("worker") or task.get("worker") or "")
        self.status, self.reason = str(task.get("status")), str(task.get("reason") or "")
        self.error, self.output = (str(self.report.get(key) or "") for key in ("error", "output"))
        self.escalation: Json = self.report.get("escalation") or {}
        self.covers = task.get("covers") or []
        edges = task.get("depends_on") or []
        known = [edge if isinstance(edge, Mapping) else {"task": edge} for edge in edges]
        self.inputs = [f"{prefix}{edge['task']}" for edge in known]
        self.needs = [f"{prefix}{e['task']}" for e in known if e.get("required") is not False]
        self.inner: list[str] = []
        """Paths of the tasks of the team that did it last."""
        self.attempts: list[list[LoggedEvent]] = []
        """The events of each attempt since the task was last begun."""
        self.ending: LoggedEvent | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing in its result."""
        return self.status == "completed" and self.report.get("is_partial") is not True

    def list_last(self, kind: str = "") -> list[LoggedEvent]:
        """Return the events of the last attempt, or those of a kind."""
        last = self.attempts[-1] if self.attempts else []
        return [event for event in last if kind in ("", event.kind)]

    def list_texts(self, name: str) -> list[str]:
        """Return texts of the report, such as its gaps."""
        return [str(text) for text in self.report.get(name) or ()]


class RunFacts:
    """A run's last request: its events, its tasks by path, the last plan of each team."""

    def __init__(self, trace: Json) -> None:
        self.run: Json = trace["run"]
        self.status = str(self.run.get("status"))
        logged = [LoggedEvent(at, data) for at, data in enumerate(trace["events"])]
        begun = [event.at for event in logged if event.kind == "request" and not event.within]
        self.events = logged[begun[-1] if begun else 0 :]
        self.plans: dict[str, Json] = {"": next(reversed(trace["plans"]), {})}
        self.tasks = {task.path: task for task in self._read_tasks(trace["tasks"], "")}
        self.failed_calls = [
            e for e in self.events if e.kind == "model_call" and e.error and e.data.get("tries")
        ]
        """Model calls whose requests were made."""
        self._of_teams = defaultdict[str, list[LoggedEvent]](list)
        self._assign_events()
        steps = (before.seconds - after.seconds for before, after in pairwise(logged))
        self.backwards_s = max([0.0, *steps])

    def select(self, *kinds: str, within: str = "") -> list[LoggedEvent]:
        """Return the events of some kinds that concern a team as a whole."""
        return [e for e in self._of_teams[within] if e.kind in kinds]

    def select_calls(self, purpose: str, within: str = "") -> list[LoggedEvent]:
        """Return the model calls of a team as a whole for one purpose."""
        calls = self.select("model_call", within=within)
        return [call for call in calls if call.read("purpose") == purpose]

    def _read_tasks(self, tasks: list[Json], within: str) -> Iterator[TaskFacts]:
        for task in tasks:
            yield (read := TaskFacts(task, within))
            if team := task.get("team"):
                self.plans[read.path] = next(reversed(team["plans"]), {})
                inner = list(self._read_tasks(team["tasks"], read.path))
                read.inner = [each.path for each in inner if each.within == read.path]
                yield from inner

    def _assign_events(self) -> None:
        for event in self.events:
            if event.task == event.within:
                self._of_teams[event.within].append(event)
            elif task := self.tasks.get(event.task):
                if event.kind == "task_started":
                    is_first = event.data.get("attempt") in (None, 0, 1)
                    task.attempts = [*([] if is_first else task.attempts), []]
                if task.attempts:
                    task.attempts[-1].append(event)
                if event.kind in ("report", "task_skipped"):
                    task.ending = event
