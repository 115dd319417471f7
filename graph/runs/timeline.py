"""The spans of a run, read from its event log: tasks, attempts, model calls, tool calls."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graph.runs.event_log import MAX_SECONDS
from graph.runs.timeline_rows import Span
from nodes.errors import UsageError
from state import Plan

SUPERVISOR: Final = "supervisor"
ENDED: Final = frozenset(("report", "task_skipped"))


class TraceUnreadable(UsageError):
    """A file holds no events of a run."""

    code = "TRACE_UNREADABLE"


class TimedEvent(BaseModel):
    """What a timeline reads of an event; the log may be cut, or another program's."""

    model_config = ConfigDict(extra="allow")

    t: float = Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)
    kind: str
    task: str = ""
    worker: str = ""
    within: str = ""
    seconds: float = Field(0.0, ge=0, le=MAX_SECONDS, allow_inf_nan=False)

    @property
    def group(self) -> str:
        """The rows of who did it: a worker, or a supervisor; of an inner team after its task."""
        doer = SUPERVISOR if self.task == self.within else self.worker or SUPERVISOR
        return f"{self.within}/{doer}" if self.within else doer

    def get(self, name: str, default: Any = "") -> Any:
        """Return a value of the event that only events of its kind have."""
        return (self.model_extra or {}).get(name, default)


@dataclass
class Timeline:
    """The spans of a run, and what is known of it."""

    spans: list[Span] = field(default_factory=list)
    moments: list[TimedEvent] = field(default_factory=list)
    """Every event, in order of time."""
    dependencies: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of paths of tasks: the first gives its result to the second."""
    unreadable: int = 0
    """Entries that are no events of this application."""
    has_ended: bool = False


def read_timeline(entries: Iterable[Mapping[str, Any]]) -> Timeline:
    """Return the timeline of an event log.

    Raises:
        TraceUnreadable: it holds no events of a run.
    """
    found = Timeline()
    for entry in entries:
        if "kind" not in entry:  # a note of the runner
            continue
        try:
            found.moments.append(TimedEvent.model_validate(entry))
        except ValidationError:
            found.unreadable += 1
    if not any(event.kind == "request" for event in found.moments):
        raise TraceUnreadable(
            "the trace holds no events of a run",
            next="`supervise runs` lists the threads there are",
        )
    found.moments.sort(key=lambda event: event.t)
    outer = [event.kind for event in found.moments if not event.within]
    found.has_ended = outer[-1:] in (["answer"], ["error"])
    found.spans = [
        *_read_calls(found.moments),
        *_read_tasks(found.moments),
        *_read_gaps(found.moments),
    ]
    found.dependencies = {edge for event in found.moments for edge in _read_edges(event)}
    return found


def _read_calls(events: Iterable[TimedEvent]) -> Iterator[Span]:
    for event in events:
        if event.kind not in ("model_call", "tool_call"):
            continue
        is_model = event.kind == "model_call"
        subject = event.get("schema") or event.get("model") if is_model else event.get("tool")
        names = (
            ("model", "tier", "input_tokens", "output_tokens", "cost_usd", "tries", "error")
            if is_model
            else ("repeated", "denied", "error")
        )
        yield Span(
            name=f"{'model' if is_model else 'tool'}: {subject}",
            category=event.kind,
            group=event.group,
            owner=event.task,
            start_s=max(0.0, event.t - event.seconds),
            end_s=event.t,
            details={name: event.get(name) for name in names if event.get(name, None) is not None},
        )


def _read_gaps(events: Iterable[TimedEvent]) -> Iterator[Span]:
    """Yield the time in which no instance of a server did the run."""
    for event in events:
        gap_s = event.get("gap_s", None)
        if event.kind == "taken_over" and isinstance(gap_s, int | float) and gap_s > 0:
            yield Span(
                name="no instance at work",
                category="gap",
                group=SUPERVISOR,
                owner="",
                start_s=max(0.0, event.t - gap_s),
                end_s=event.t,
            )


@dataclass
class _OpenTask:
    first: TimedEvent
    attempt: TimedEvent


def _read_tasks(events: list[TimedEvent]) -> Iterator[Span]:
    """Yield tasks and their attempts; those without an end are cut at the last event."""
    working: dict[str, _OpenTask] = {}
    for event in events:
        at_work = working.get(event.task)
        if event.kind == "task_started":
            if at_work:
                yield _build_attempt(at_work, event.t)
                at_work.attempt = event
            else:
                working[event.task] = _OpenTask(event, event)
        elif event.kind in ENDED and at_work:
            del working[event.task]
            yield from _end_task(at_work, event.t, _read_status(event))
    for open_task in working.values():
        yield from _end_task(open_task, events[-1].t, "not ended")


def _end_task(task: _OpenTask, end_s: float, status: str) -> Iterator[Span]:
    yield _build_attempt(task, end_s)
    first = task.first
    yield Span(
        name=first.task,
        category="task",
        group=first.group,
        owner=first.task,
        start_s=first.t,
        end_s=end_s,
        is_outer=True,
        details={"status": status, "worker": first.worker},
    )


def _build_attempt(task: _OpenTask, end_s: float) -> Span:
    attempt = task.attempt
    rung = f", {attempt.get('rung')}" if attempt.get("rung") else ""
    return Span(
        name=f"attempt {attempt.get('attempt', 1)}{rung}",
        category="attempt",
        group=task.first.group,
        owner=attempt.task,
        start_s=attempt.t,
        end_s=end_s,
        details={"tier": attempt.get("tier"), "worker": attempt.worker},
    )


def _read_status(event: TimedEvent) -> str:
    report = event.get("report", {})
    status = report.get("status", "completed") if isinstance(report, Mapping) else "completed"
    return "skipped" if event.kind == "task_skipped" else str(status)


def _read_edges(event: TimedEvent) -> Iterator[tuple[str, str]]:
    """Yield the dependencies of a plan, between paths of tasks."""
    plan = event.get("plan", None)
    if not event.kind.startswith("plan_") or not isinstance(plan, Mapping):
        return
    before = f"{event.within}/" if event.within else ""
    try:
        tasks = Plan.model_validate(plan).tasks
    except ValidationError:  # of another program, or of a release with other fields
        return
    for task in tasks:
        for edge in task.depends_on:
            yield f"{before}{edge.task}", f"{before}{task.id}"
