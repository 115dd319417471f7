"""The spans of a run, read from its event log: tasks, attempts, model calls, tool calls."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from graph.runs.event_log import FORM_ERRORS
from graph.runs.run_view import SUPERVISOR, RunEvent, RunView, TaskView
from graph.runs.trace import TraceUnreadable

_CALL_DETAILS: Mapping[str, tuple[str, ...]] = {
    "model_call": (
        *("model", "tier", "input_tokens", "output_tokens", "cost_usd", "tries", "error"),
    ),
    "tool_call": ("repeated", "denied", "error"),
}


@dataclass(frozen=True, kw_only=True)
class Span:
    """Something that took time; seconds from the run's start."""

    name: str
    category: str
    group: str
    """The rows that it belongs to, such as a worker's."""
    owner: str
    """The task that it is part of; a span lies inside spans of its own task alone."""
    start_s: float
    end_s: float
    is_outer: bool = False
    """It is a whole task, which lies inside no other span."""
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PlacedSpan:
    """A span, and its row in its group, counted from 0."""

    span: Span
    row: int


@dataclass
class Timeline:
    """The spans of a run, and what is known of it."""

    spans: list[Span] = field(default_factory=list)
    moments: list[RunEvent] = field(default_factory=list)
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
            found.moments.append(RunEvent.model_validate(entry))
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
    view = RunView()
    for event in found.moments:
        with suppress(*FORM_ERRORS):  # of another program, or of a release with other fields
            view.apply(event)
    tasks = [*view.former_tasks, *view.tasks.values()]
    found.spans = [
        *_list_calls(found.moments),
        *(span for task in tasks for span in _list_attempts(task, found.moments[-1].t)),
        *_list_gaps(found.moments),
    ]
    found.dependencies = {(need, task.id) for task in tasks for need in task.needs}
    return found


def place_spans(spans: Iterable[Span]) -> list[PlacedSpan]:
    """Return each span with its row; what overlaps gets a further row of its group."""
    groups: defaultdict[str, list[list[Span]]] = defaultdict(list)
    placed = []
    for span in sorted(spans, key=lambda each: (each.start_s, -each.end_s, not each.is_outer)):
        rows = groups[span.group]
        for row in rows:
            while row and row[-1].end_s <= span.start_s:
                row.pop()
        index = _choose_row(rows, span)
        if index == len(rows):
            rows.append([])
        rows[index].append(span)
        placed.append(PlacedSpan(span, index))
    return placed


def _choose_row(rows: list[list[Span]], span: Span) -> int:
    """Return the row in which a span lies inside its task, else a free one, else a new one."""
    for index, row in enumerate(rows):
        is_inside = bool(row) and row[-1].owner == span.owner and span.end_s <= row[-1].end_s
        if is_inside and not span.is_outer:
            return index
    free = (index for index, row in enumerate(rows) if not row)
    return next(free, len(rows))


def _list_calls(events: Iterable[RunEvent]) -> Iterator[Span]:
    for event in events:
        if event.kind not in _CALL_DETAILS:
            continue
        is_model = event.kind == "model_call"
        subject = event.get("schema") or event.get("model") if is_model else event.get("tool")
        names = _CALL_DETAILS[event.kind]
        yield Span(
            name=f"{'model' if is_model else 'tool'}: {subject}",
            category=event.kind,
            group=event.group,
            owner=event.task,
            start_s=max(0.0, event.t - event.seconds),
            end_s=event.t,
            details={name: event.get(name) for name in names if event.get(name, None) is not None},
        )


def _list_gaps(events: Iterable[RunEvent]) -> Iterator[Span]:
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


def _list_attempts(task: TaskView, last_s: float) -> Iterator[Span]:
    """Yield a task and its attempts; again if it was done again; open ones end at `last_s`."""
    first: RunEvent | None = None
    for attempt in task.attempts:
        begun, end_s = attempt.begun, last_s if attempt.end_s is None else attempt.end_s
        first = first or begun
        rung = f", {begun.get('rung')}" if begun.get("rung") else ""
        yield Span(
            name=f"attempt {begun.get('attempt', 1)}{rung}",
            category="attempt",
            group=first.group,
            owner=task.id,
            start_s=begun.t,
            end_s=end_s,
            details={"tier": begun.get("tier"), "worker": begun.worker},
        )
        if attempt.ending or attempt.end_s is None:
            yield Span(
                name=task.id,
                category="task",
                group=first.group,
                owner=task.id,
                start_s=first.t,
                end_s=end_s,
                is_outer=True,
                details={"status": attempt.ending or "not ended", "worker": first.worker},
            )
            first = None
