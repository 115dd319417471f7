"""A run's trace in Chrome's trace event format, for ui.perfetto.dev and chrome://tracing.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from pydantic import ValidationError

from graph.runs.event_log import FORM_ERRORS
from graph.runs.run_view import SUPERVISOR, RunEvent, RunView, TaskView
from graph.runs.trace import TraceUnreadable
from nodes.text.plain_text import sanitize_line

PID: Final = 1
MAX_TEXT_CHARS: Final = 300
_CALL_DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    "model_call": (
        *("model", "tier", "input_tokens", "output_tokens", "cost_usd", "tries", "error"),
    ),
    "tool_call": ("repeated", "denied", "error"),
}
JsonEvent = dict[str, Any]


@dataclass(kw_only=True)
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
    details: dict[str, Any] = field(default_factory=dict)
    row: int = 0
    """In its group."""


@dataclass(frozen=True)
class Timeline:
    """The spans of a run, and what is known of it."""

    spans: list[Span]
    """In order of their start, each with its row; what overlaps has different rows."""
    dependencies: set[tuple[str, str]]
    """Pairs of paths of tasks: the first gives its result to the second."""
    unreadable: int
    """Entries that are no events of this application."""
    has_ended: bool


def read_timeline(entries: Iterable[Mapping[str, Any]]) -> Timeline:
    """Return the timeline of an event log.

    Raises:
        TraceUnreadable: it holds no events of a run.
    """
    events, unreadable = list[RunEvent](), 0
    for entry in entries:
        try:
            events += [RunEvent.model_validate(entry)] if "kind" in entry else []
        except ValidationError:
            unreadable += 1
    if not any(event.kind == "request" for event in events):
        raise TraceUnreadable(
            "the trace holds no events of a run",
            next="`supervise runs` lists the threads there are",
        )
    events.sort(key=lambda event: event.t)
    outer, view = [event.kind for event in events if not event.within], RunView()
    for event in events:
        with suppress(*FORM_ERRORS):  # of another program, or of a release with other fields
            view.apply(event)
    tasks = [*view.former_tasks, *view.tasks.values()]
    spans = [*_list_calls(events), *_list_gaps(events)]
    spans += [span for task in tasks for span in _list_attempts(task, events[-1].t)]
    return Timeline(
        place_spans(spans),
        {(need, task.id) for task in tasks for need in task.needs},
        unreadable,
        outer[-1:] in (["answer"], ["error"]),
    )


def build_chrome_trace(timeline: Timeline, title: str) -> dict[str, Any]:
    """Return the trace as one JSON object; times are whole microseconds."""
    places = sorted({(span.group, span.row) for span in timeline.spans} | {(SUPERVISOR, 0)})
    groups = list(dict.fromkeys([SUPERVISOR, *(span.group for span in timeline.spans)]))
    places.sort(key=lambda place: groups.index(place[0]))
    rows = {place: tid for tid, place in enumerate(places, start=1)}
    events = [
        _build_event("M", 0, name="process_name", args={"name": _to_text(title)}),
        *_name_rows(rows),
        *(_build_span(span, rows) for span in timeline.spans),
        *_build_arrows(timeline, rows),
    ]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


Rows = dict[tuple[str, int], int]


def _build_event(phase: str, tid: int, *, ts: int = 0, **more: Any) -> JsonEvent:
    return {"ph": phase, "pid": PID, "tid": tid, "ts": ts, **more}


def _name_rows(rows: Rows) -> Iterator[JsonEvent]:
    for (group, row), tid in rows.items():
        name = group if not row else f"{group} ({row + 1})"
        yield _build_event("M", tid, name="thread_name", args={"name": _to_text(name)})
        yield _build_event("M", tid, name="thread_sort_index", args={"sort_index": tid})


def _build_span(span: Span, rows: Rows) -> JsonEvent:
    start = _to_us(span.start_s)
    details = {name: _to_plain(value) for name, value in span.details.items()}
    return _build_event(
        "X",
        rows[span.group, span.row],
        ts=start,
        dur=_to_us(span.end_s) - start,
        name=_to_text(span.name),
        cat=span.category,
        args={"task": _to_text(span.owner), **details},
    )


def _build_arrows(timeline: Timeline, rows: Rows) -> Iterator[JsonEvent]:
    """Yield an arrow for each dependency, from the end of a task to the begin of the next one."""
    tasks = {span.owner: span for span in timeline.spans if span.category == "task"}
    named, numbers = {"name": "depends_on", "cat": "dependency"}, count(1)
    for before, after in sorted(timeline.dependencies):
        if before not in tasks or after not in tasks:
            continue
        first, second, number = tasks[before], tasks[after], next(numbers)
        end = max(_to_us(first.end_s) - 1, _to_us(first.start_s))  # it begins inside its span
        begin = max(end, _to_us(second.start_s))
        yield _build_event("s", rows[first.group, first.row], ts=end, id=number, **named)
        tid = rows[second.group, second.row]
        yield _build_event("f", tid, ts=begin, id=number, bp="e", **named)


def _to_us(seconds: float) -> int:
    return round(seconds * 1e6)


def _to_text(value: Any) -> str:
    return sanitize_line(str(value), MAX_TEXT_CHARS)


def _to_plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float) else _to_text(value)


def place_spans(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order of their start with their rows; what overlaps gets a further row.

    A span is inside one of its own task, or in a free row; a task is inside none.
    """
    groups: defaultdict[str, list[list[Span]]] = defaultdict(list)
    ordered = sorted(spans, key=lambda each: (each.start_s, -each.end_s, each.category != "task"))
    for span in ordered:
        rows = groups[span.group]
        for row in rows:
            while row and row[-1].end_s <= span.start_s:
                row.pop()
        fitting = (index for index, row in enumerate(rows) if _is_inside(span, row))
        free = (index for index, row in enumerate(rows) if not row)
        span.row = next(fitting, next(free, len(rows)))
        if span.row == len(rows):
            rows.append([])
        rows[span.row].append(span)
    return ordered


def _is_inside(span: Span, row: list[Span]) -> bool:
    if not row or span.category == "task":
        return False
    return row[-1].owner == span.owner and span.end_s <= row[-1].end_s


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
            began_s = max(0.0, event.t - gap_s)
            yield Span(
                name="no instance at work",
                category="gap",
                group=SUPERVISOR,
                owner="",
                start_s=began_s,
                end_s=event.t,
            )


def _list_attempts(task: TaskView, last_s: float) -> Iterator[Span]:
    """Yield a task and its attempts; again if it was done again; open ones end at `last_s`."""
    first: RunEvent | None = None
    for attempt in task.attempts:
        begun, end_s = attempt.begun, last_s if attempt.end_s is None else attempt.end_s
        first = first or begun
        rung = f", {begun.get('rung')}" if begun.get("rung") else ""
        named: dict[str, Any] = {"owner": task.id, "group": first.group, "end_s": end_s}
        yield Span(
            name=f"attempt {begun.get('attempt', 1)}{rung}",
            category="attempt",
            start_s=begun.t,
            details={"tier": begun.get("tier"), "worker": begun.worker},
            **named,
        )
        if attempt.ending or attempt.end_s is None:
            done = {"status": attempt.ending or "not ended", "worker": first.worker}
            yield Span(name=task.id, category="task", start_s=first.t, details=done, **named)
            first = None
