"""What a picture of a run's timeline shows: a row for each task, or for each worker at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph.display.progress import STATE_LABELS
from graph.pictures.plan_picture import PlannedTask, PlanPicture
from graph.runs.timeline import SUPERVISOR, TimedEvent, Timeline, read_timeline
from graph.runs.timeline_rows import Span, place_spans
from graph.runs.trace import select_last_request

MAX_TASK_ROWS: Final = 60
"""With more tasks, those of a worker that follow each other have one row."""
_BEGINS: Final = frozenset(("awaiting", "task_started", "report", "task_skipped"))


@dataclass(frozen=True)
class Bar:
    """A time of work; seconds from the request."""

    start_s: float
    end_s: float
    state: str
    label: str
    note: str
    is_retried: bool = False
    """A further attempt followed."""
    is_critical: bool = False


@dataclass
class TimelineRow:
    """A row of bars; seconds from the request."""

    label: str
    depth: int = 0
    bars: list[Bar] = field(default_factory=list)
    waits: list[tuple[float, float]] = field(default_factory=list)
    early: list[tuple[float, float]] = field(default_factory=list)
    """Model calls that began before the plan was complete."""
    calls: list[tuple[float, float]] = field(default_factory=list)
    """Calls of tools."""


@dataclass(frozen=True)
class TimelinePicture:
    """The rows of a run's last request."""

    title: str
    summary: str
    rows: Sequence[TimelineRow]
    seconds: float
    has_ended: bool


def read_timeline_picture(trace: Mapping[str, Any], plan: PlanPicture) -> TimelinePicture:
    """Return what a picture of the timeline of a trace's last request shows.

    Raises:
        TraceUnreadable: it holds no events of a run.
    """
    timeline = read_timeline(select_last_request(list(trace.get("events") or ())))
    begin_s, end_s = timeline.moments[0].t, timeline.moments[-1].t
    known = {task.id: task for task in plan.tasks}
    paths = _list_paths(timeline.moments)
    if len(paths) > MAX_TASK_ROWS:
        paths = [path for path in paths if "/" not in path]
    rows = (
        _build_worker_rows(timeline, known)
        if len(paths) > MAX_TASK_ROWS
        else [_build_task_row(path, timeline, known) for path in paths]
    )
    rows = [*_build_planning_row(timeline), *rows, *_build_answer_row(timeline)]
    _shift_rows(rows, begin_s)
    return TimelinePicture(plan.title, plan.summary, rows, end_s - begin_s, timeline.has_ended)


def _list_paths(events: Iterable[TimedEvent]) -> list[str]:
    """Return the paths of tasks by the time of their work; those of a team follow its task."""
    begins: dict[str, tuple[float, bool]] = {}
    for event in events:
        if event.task and event.kind in _BEGINS:
            waits = event.kind == "awaiting"
            if event.task not in begins or (begins[event.task][1] and not waits):
                begins[event.task] = event.t, waits

    def list_keys(path: str) -> list[tuple[float, str]]:
        parts = path.split("/")
        outer = ["/".join(parts[: index + 1]) for index in range(len(parts))]
        return [(begins.get(each, (0.0, False))[0], each) for each in outer]

    return sorted(begins, key=list_keys)


def _build_task_row(path: str, timeline: Timeline, known: Mapping[str, PlannedTask]) -> TimelineRow:
    own = [span for span in timeline.spans if span.owner == path]
    ends = [span for span in own if span.category == "task"]
    attempts = sorted(
        (span for span in own if span.category == "attempt"), key=lambda span: span.start_s
    )
    row = TimelineRow(path.rpartition("/")[2], path.count("/"))
    for index, span in enumerate(attempts):
        is_last = index == len(attempts) - 1
        row.bars.append(_build_bar(span, ends, known.get(path), is_retried=not is_last))
    row.bars += [_build_skip(event) for event in timeline.moments if _is_skip(event, path)]
    row.calls = [(span.start_s, span.end_s) for span in own if span.category == "tool_call"]
    row.waits, row.early = _list_waits(path, timeline, attempts), _list_early(path, timeline)
    return row


def _build_bar(
    span: Span, ends: Sequence[Span], task: PlannedTask | None, *, is_retried: bool
) -> Bar:
    status = str(ends[-1].details.get("status", "")) if ends else ""
    state = task.state if task else _label_status(status)
    worker = span.details.get("worker") or ""
    note = f"{span.owner}: {span.name} by {worker}, {span.end_s - span.start_s:.2f} s"
    is_critical = bool(task and task.is_critical)
    return Bar(span.start_s, span.end_s, state, span.name, note, is_retried, is_critical)


def _is_skip(event: TimedEvent, path: str) -> bool:
    return event.kind == "task_skipped" and event.task == path


def _build_skip(event: TimedEvent) -> Bar:
    return Bar(event.t, event.t, "skipped", "", f"{event.task}: {event.get('reason')}")


def _label_status(status: str) -> str:
    return {**STATE_LABELS, "not ended": "working"}.get(status, status)


def _list_waits(
    path: str, timeline: Timeline, attempts: Sequence[Span]
) -> list[tuple[float, float]]:
    begins = [
        event.t
        for event in timeline.moments
        if (event.kind == "awaiting" and event.task == path)
        or (event.kind == "dispatched" and path in _list_dispatched(event))
    ]
    ends = [span.start_s for span in attempts[:1]] or [
        event.t for event in timeline.moments if event.kind == "task_skipped" and event.task == path
    ]
    return [(min(begins), ends[0])] if begins and ends and ends[0] > min(begins) else []


def _list_dispatched(event: TimedEvent) -> list[str]:
    tasks = event.get("tasks", ())
    inside = f"{event.within}/" if event.within else ""
    return [f"{inside}{task}" for task in tasks] if isinstance(tasks, list) else []


def _list_early(path: str, timeline: Timeline) -> list[tuple[float, float]]:
    events = [each for each in timeline.moments if each.task == path and each.kind == "speculated"]
    begun = [event.t for event in events if event.get("outcome") == "begun"]
    ended = [event.t for event in events if event.get("outcome") != "begun"]
    return list(zip(begun, ended, strict=False))


def _build_worker_rows(timeline: Timeline, known: Mapping[str, PlannedTask]) -> list[TimelineRow]:
    """Return the rows of each worker; tasks at the same time have rows of their own."""
    spans = [span for span in timeline.spans if span.category == "task" and "/" not in span.owner]
    rows: defaultdict[tuple[str, int], TimelineRow] = defaultdict(lambda: TimelineRow(""))
    for placed in place_spans(spans):
        row = rows[placed.span.group, placed.row]
        row.label = placed.span.group if placed.row == 0 else ""
        task = known.get(placed.span.owner)
        bar = _build_bar(placed.span, [placed.span], task, is_retried=False)
        row.bars.append(bar)
    return [rows[key] for key in sorted(rows)]


def _build_planning_row(timeline: Timeline) -> Iterator[TimelineRow]:
    ends = [event.t for event in timeline.moments if event.kind == "plan_created"][:1]
    if ends:
        yield _build_supervisor_row("plan", timeline.moments[0].t, ends[0])


def _build_answer_row(timeline: Timeline) -> Iterator[TimelineRow]:
    outer = [event for event in timeline.moments if not event.within]
    reports = [event.t for event in outer if event.kind in ("report", "task_skipped")]
    if reports and outer[-1].kind == "answer":
        yield _build_supervisor_row("answer", reports[-1], outer[-1].t)


def _build_supervisor_row(label: str, start_s: float, end_s: float) -> TimelineRow:
    note = f"{SUPERVISOR}: {label}, {end_s - start_s:.2f} s"
    return TimelineRow(label, bars=[Bar(start_s, end_s, "supervisor", "", note)])


def _shift_rows(rows: Iterable[TimelineRow], begin_s: float) -> None:
    for row in rows:
        row.waits, row.early, row.calls = (
            [(max(0.0, start - begin_s), end - begin_s) for start, end in pairs]
            for pairs in (row.waits, row.early, row.calls)
        )
        row.bars = [
            Bar(
                bar.start_s - begin_s,
                bar.end_s - begin_s,
                bar.state,
                bar.label,
                bar.note,
                bar.is_retried,
                bar.is_critical,
            )
            for bar in row.bars
        ]
