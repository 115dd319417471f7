"""A run's trace in Chrome's trace event format, for ui.perfetto.dev and chrome://tracing.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, Final

from graph.runs.run_view import SUPERVISOR, RunEvent
from graph.runs.timeline import PlacedSpan, Timeline, place_spans
from nodes.text.plain_text import sanitize_line

PID: Final = 1
MAX_TEXT_CHARS: Final = 300
MARKED_KINDS: Final = frozenset(
    (
        "plan_created",
        "plan_approved",
        "plan_revised",
        "task_skipped",
        "deadline",
        "budget",
        "error",
        "answer",
    )
)
"""Events that are shown as moments."""
JsonEvent = dict[str, Any]


def build_chrome_trace(timeline: Timeline, title: str) -> dict[str, Any]:
    """Return the trace as one JSON object; times are whole microseconds."""
    placed = place_spans(timeline.spans)
    groups = dict.fromkeys([SUPERVISOR, *(event.group for event in timeline.moments)])
    keys = sorted({(span.span.group, span.row) for span in placed} | {(SUPERVISOR, 0)})
    keys.sort(key=lambda key: (list(groups).index(key[0]), key[1]))
    rows = {key: index for index, key in enumerate(keys, start=1)}
    events = [
        *_name_rows(rows, title),
        *(_build_span(span, rows) for span in placed),
        *_build_arrows(timeline, placed, rows),
        *_build_moments(timeline.moments, rows),
        *_count_tokens(timeline.moments),
        *_count_running(placed),
    ]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


Rows = dict[tuple[str, int], int]


def _name_rows(rows: Rows, title: str) -> Iterator[JsonEvent]:
    yield _build_name("process_name", 0, _to_text(title))
    for (group, row), tid in rows.items():
        name = group if not row else f"{group} ({row + 1})"
        yield _build_name("thread_name", tid, _to_text(name))
        order = _build_name("thread_sort_index", tid, "")
        yield {**order, "args": {"sort_index": tid}}


def _build_name(kind: str, tid: int, name: str) -> JsonEvent:
    return {"name": kind, "ph": "M", "pid": PID, "tid": tid, "ts": 0, "args": {"name": name}}


def _build_span(placed: PlacedSpan, rows: Rows) -> JsonEvent:
    span = placed.span
    start = _to_us(span.start_s)
    return {
        "name": _to_text(span.name),
        "cat": span.category,
        "ph": "X",
        "ts": start,
        "dur": _to_us(span.end_s) - start,
        "pid": PID,
        "tid": rows[span.group, placed.row],
        "args": {
            "task": _to_text(span.owner),
            **{name: _to_plain(value) for name, value in span.details.items()},
        },
    }


def _build_arrows(
    timeline: Timeline, placed: Iterable[PlacedSpan], rows: Rows
) -> Iterator[JsonEvent]:
    """Yield an arrow for each dependency, from the end of a task to the begin of the next one."""
    tasks = {each.span.owner: each for each in placed if each.span.category == "task"}
    numbers = count(1)
    for before, after in sorted(timeline.dependencies):
        if before not in tasks or after not in tasks:
            continue
        first, second, number = tasks[before], tasks[after], next(numbers)
        end = _to_us(first.span.end_s) - 1  # an arrow begins inside its span
        end = max(end, _to_us(first.span.start_s))
        yield _build_arrow("s", number, end, rows[first.span.group, first.row])
        begin = max(end, _to_us(second.span.start_s))
        tid = rows[second.span.group, second.row]
        yield {**_build_arrow("f", number, begin, tid), "bp": "e"}


def _build_arrow(phase: str, number: int, ts: int, tid: int) -> JsonEvent:
    named = {"name": "depends_on", "cat": "dependency", "ph": phase, "id": number}
    return {**named, "ts": ts, "pid": PID, "tid": tid}


def _build_moments(events: Iterable[RunEvent], rows: Rows) -> Iterator[JsonEvent]:
    for event in events:
        if event.kind in MARKED_KINDS:
            yield {
                "name": event.kind,
                "cat": "event",
                "ph": "i",
                "s": "t",
                "ts": _to_us(event.t),
                "pid": PID,
                "tid": rows.get((event.group, 0), rows[SUPERVISOR, 0]),
                "args": {"task": _to_text(event.task), "message": _to_text(event.get("message"))},
            }


def _count_tokens(events: Iterable[RunEvent]) -> Iterator[JsonEvent]:
    tokens = {"input": 0, "output": 0}
    for event in events:
        if event.kind == "model_call":
            for name in tokens:
                used = event.get(f"{name}_tokens", 0)
                tokens[name] += used if isinstance(used, int) and used > 0 else 0
            yield _build_counter("tokens", _to_us(event.t), dict(tokens))


def _count_running(placed: Iterable[PlacedSpan]) -> Iterator[JsonEvent]:
    """Yield how many tasks run, at each begin and end of one."""
    tasks = [each.span for each in placed if each.span.category == "task"]
    changes = [(_to_us(span.start_s), 1) for span in tasks]
    changes += [(_to_us(span.end_s), -1) for span in tasks]
    running = 0
    for ts, change in sorted(changes):
        running += change
        yield _build_counter("running tasks", ts, {"tasks": running})


def _build_counter(name: str, ts: int, values: dict[str, int]) -> JsonEvent:
    return {"name": name, "ph": "C", "ts": ts, "pid": PID, "tid": 0, "args": values}


def _to_us(seconds: float) -> int:
    return round(seconds * 1e6)


def _to_text(value: Any) -> str:
    return sanitize_line(str(value), MAX_TEXT_CHARS)


def _to_plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float) else _to_text(value)
