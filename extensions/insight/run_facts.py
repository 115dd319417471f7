"""Reads a trace into what the search for causes asks: tasks, their edges, their last attempts.

A trace may be damaged, old, or another program's: what has not the expected form is left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from nodes.text.plain_text import to_one_line

Json = Mapping[str, Any]
MAX_TEXT: Final = 300
MAX_DEPTH: Final = 20
"""Of teams within teams that are read."""


def as_map(value: Any) -> Json:
    """Return a value of a trace as a mapping; empty if it is none."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """Return a value of a trace as a list; empty if it is none."""
    return value if isinstance(value, list) else []


def as_text(value: Any, max_chars: int = MAX_TEXT) -> str:
    """Return a value of a trace as one printable line; empty if it is no text."""
    return to_one_line(value, max_chars) if isinstance(value, str | int | float) else ""


class LoggedEvent:
    """An event, and its place in the log: the order of time, whatever a clock did."""

    def __init__(self, at: int, data: Any) -> None:
        self.at, self.data = at, as_map(data)
        self.kind, self.error = self.read("kind"), self.read("error")
        self.task, self.within = self.read("task"), self.read("within")

    @property
    def seconds(self) -> float:
        """Seconds from the run's start; 0 where it has none."""
        seconds = self.data.get("t")
        return float(seconds) if isinstance(seconds, int | float) else 0.0

    def read(self, name: str) -> str:
        """Return a value as a line; empty where the event has none."""
        return as_text(self.data.get(name))

    def get(self, name: str, key: str) -> Any:
        """Return a value of a mapping in it; None without one."""
        return as_map(self.data.get(name)).get(key)


class TaskFacts:
    """A task of the last plan, or of a team inside one, as the run left it."""

    def __init__(self, task: Json, within: str) -> None:
        prefix, self.within = f"{within}/" if within else "", within
        self.id, self.report = as_text(task.get("id")), as_map(task.get("report"))
        self.path = f"{prefix}{self.id}"
        self.worker = as_text(self.report.get("worker")) or as_text(task.get("worker"))
        self.status, self.reason = as_text(task.get("status"), 40), as_text(task.get("reason"))
        self.covers = [as_text(words) for words in as_list(task.get("covers"))]
        edges = as_list(task.get("depends_on"))
        known = [edge if isinstance(edge, Mapping) else {"task": edge} for edge in edges]
        required = [edge for edge in known if edge.get("required") is not False]
        self.inputs = [f"{prefix}{as_text(edge.get('task'))}" for edge in known]
        self.needs = [f"{prefix}{as_text(edge.get('task'))}" for edge in required]
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
        """Return texts of the report, such as its gaps, as they are written."""
        return [text for text in as_list(self.report.get(name)) if isinstance(text, str)]


class RunFacts:
    """A run's last request: its events, its tasks by path, the last plan of each team."""

    def __init__(self, trace: Json) -> None:
        self.run, self.plans = as_map(trace.get("run")), dict[str, Json]()
        self.status = as_text(self.run.get("status"), 40)
        logged = [LoggedEvent(at, data) for at, data in enumerate(as_list(trace.get("events")))]
        begun = [event.at for event in logged if event.kind == "request" and not event.within]
        self.events = logged[begun[-1] if begun else 0 :]
        self.plans[""] = as_map(next(reversed(as_list(trace.get("plans"))), {}))
        self.tasks = {task.path: task for task in self._read_tasks(as_list(trace.get("tasks")), "")}
        self.failed_calls = [
            e for e in self.events if e.kind == "model_call" and e.error and e.data.get("tries")
        ]
        """Model calls whose requests were made."""
        states = [e for e in self.events if e.kind == "error" and e.data.get("state") == "open"]
        self.openings = [event.at for event in states]
        """Where circuit breakers opened."""
        self.is_budget_low = any(
            e.read("level") == "low" for e in self.events if e.kind == "budget"
        )
        self._of_teams = defaultdict[str, list[LoggedEvent]](list)
        self._assign_events()
        steps = (before.seconds - after.seconds for before, after in pairwise(logged))
        self.backwards_s = max([0.0, *steps])

    def select(self, *kinds: str, within: str = "") -> list[LoggedEvent]:
        """Return the events of some kinds that concern a team as a whole."""
        return [e for e in self._of_teams[within] if e.kind in kinds]

    def _read_tasks(self, tasks: list[Any], within: str, depth: int = 0) -> Iterator[TaskFacts]:
        for task in map(as_map, tasks):
            yield (read := TaskFacts(task, within))
            if (team := as_map(task.get("team"))) and depth < MAX_DEPTH:
                self.plans[read.path] = as_map(next(reversed(as_list(team.get("plans"))), {}))
                inner = list(self._read_tasks(as_list(team.get("tasks")), read.path, depth + 1))
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
