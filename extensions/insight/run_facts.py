"""Reads a trace into what the search for causes asks: tasks, their edges, their last attempts.

A trace may be damaged, old, or another program's: whatever has not the expected form is left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    return list(value) if isinstance(value, list | tuple) else []


def as_text(value: Any, max_chars: int = MAX_TEXT) -> str:
    """Return a value of a trace as one printable line."""
    return to_one_line(value, max_chars) if isinstance(value, str | int | float) else ""


@dataclass(frozen=True)
class LoggedEvent:
    """An event, and its place in the log, which is the order of time whatever a clock did."""

    at: int
    data: Json

    @property
    def kind(self) -> str:
        return str(self.data.get("kind"))

    @property
    def task(self) -> str:
        """The path of its task; empty for the supervisor's own."""
        return as_text(self.data.get("task"))

    @property
    def within(self) -> str:
        """The task whose team it is about; empty for the run's own team."""
        return as_text(self.data.get("within"))

    def read(self, name: str) -> str:
        """Return a value as a line; empty where the event has none."""
        return as_text(self.data.get(name))

    def get(self, name: str, key: str) -> Any:
        """Return a value of a mapping in it; None without one."""
        return as_map(self.data.get(name)).get(key)


@dataclass
class TaskFacts:
    """A task of the last plan, or of a team inside one, as the run left it."""

    path: str
    """One of the team that does `outer` is `outer/inner`."""
    worker: str
    status: str
    report: Json
    reason: str
    """Why it was skipped."""
    needs: tuple[str, ...]
    """Paths of the tasks whose results it must have."""
    wants: tuple[str, ...]
    """Paths of those whose results it can do without."""
    within: str
    covers: tuple[str, ...]
    inner: list[str] = field(default_factory=list)
    """Paths of the tasks of the team that did it last."""
    attempts: list[list[LoggedEvent]] = field(default_factory=list)
    """The events of each attempt since the task was last begun, in order."""
    ending: LoggedEvent | None = None
    """The event of its report, or of its skip."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing in its result."""
        return self.status == "completed" and self.report.get("is_partial") is not True

    def list_last(self, kind: str) -> list[LoggedEvent]:
        """Return the events of a kind of the last attempt."""
        return [event for each in self.attempts[-1:] for event in each if event.kind == kind]

    def list_texts(self, name: str) -> list[str]:
        """Return texts of the report, such as its gaps, as they are written."""
        return [text for text in as_list(self.report.get(name)) if isinstance(text, str)]


@dataclass
class RunFacts:
    """A run's last request."""

    run: Json
    events: list[LoggedEvent]
    tasks: dict[str, TaskFacts]
    plans: dict[str, Json]
    """The last plan of each team, by the task that it does; the run's own has the empty name."""
    backwards_s: float = 0.0
    """The largest step back of the run's clock."""

    @property
    def status(self) -> str:
        return as_text(self.run.get("status"), 40)

    def select(self, *kinds: str, within: str = "") -> list[LoggedEvent]:
        """Return the events of some kinds that concern a team as a whole."""
        return [e for e in self._of_teams[within] if e.kind in kinds]

    def __post_init__(self) -> None:
        self._of_teams = defaultdict[str, list[LoggedEvent]](list)
        self.failed_calls: list[LoggedEvent] = []
        """Model calls whose requests were made, and failed."""
        self.openings: list[int] = []
        """Places of the events by which circuit breakers opened."""
        for event in self.events:
            if event.task == event.within:
                self._of_teams[event.within].append(event)
            if event.kind == "model_call" and event.data.get("tries") and event.data.get("error"):
                self.failed_calls.append(event)
            if event.kind == "error" and event.data.get("state") == "open":
                self.openings.append(event.at)


def read_facts(trace: Json) -> RunFacts:
    """Return what a trace says of its last request."""
    logged = [LoggedEvent(at, as_map(e)) for at, e in enumerate(as_list(trace.get("events")))]
    begun = [event.at for event in logged if event.kind == "request" and not event.within]
    events = logged[begun[-1] if begun else 0 :]
    facts = RunFacts(as_map(trace.get("run")), events, {}, {})
    facts.plans[""] = as_map(next(reversed(as_list(trace.get("plans"))), {}))
    for task in _read_tasks(as_list(trace.get("tasks")), "", facts.plans):
        facts.tasks[task.path] = task
    for task in facts.tasks.values():
        if task.within in facts.tasks:
            facts.tasks[task.within].inner.append(task.path)
    _assign_events(facts)
    times = [t for e in logged if isinstance(t := e.data.get("t"), int | float)]
    steps = (before - after for before, after in pairwise(times))
    facts.backwards_s = max(0.0, *steps, 0.0)
    return facts


def _read_tasks(
    tasks: list[Any], within: str, plans: dict[str, Json], depth: int = 0
) -> Iterator[TaskFacts]:
    prefix = f"{within}/" if within else ""
    for task in map(as_map, tasks):
        path = f"{prefix}{as_text(task.get('id'))}"
        edges = [_read_edge(edge) for edge in as_list(task.get("depends_on"))]
        report, team = as_map(task.get("report")), as_map(task.get("team"))
        yield TaskFacts(
            path=path,
            worker=as_text(report.get("worker")) or as_text(task.get("worker")),
            status=as_text(task.get("status"), 40),
            report=report,
            reason=as_text(task.get("reason")),
            needs=tuple(f"{prefix}{name}" for name, required in edges if required),
            wants=tuple(f"{prefix}{name}" for name, required in edges if not required),
            within=within,
            covers=tuple(words for words in as_list(task.get("covers")) if isinstance(words, str)),
        )
        if team and depth < MAX_DEPTH:
            plans[path] = as_map(next(reversed(as_list(team.get("plans"))), {}))
            yield from _read_tasks(as_list(team.get("tasks")), path, plans, depth + 1)


def _read_edge(edge: Any) -> tuple[str, bool]:
    if isinstance(edge, Mapping):
        return as_text(edge.get("task")), edge.get("required") is not False
    return as_text(edge), True


def _assign_events(facts: RunFacts) -> None:
    """Assign to each task the events of its attempts since it was last begun."""
    for event in facts.events:
        if (task := facts.tasks.get(event.task)) is None or event.task == event.within:
            continue
        if event.kind == "task_started":
            if event.data.get("attempt") in (None, 0, 1):
                task.attempts.clear()
            task.attempts.append([])
        if task.attempts:
            task.attempts[-1].append(event)
        if event.kind in ("report", "task_skipped"):
            task.ending = event
