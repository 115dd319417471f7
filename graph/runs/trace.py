"""The trace of a thread, read from its event log, in the documented format."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from graph.runs import event_log
from graph.runs.event_log import FORM_ERRORS
from graph.runs.log_usage import sum_usage_by_tier
from graph.runs.timeline import TraceUnreadable
from graph.settings import Settings
from nodes.errors import UsageError
from nodes.text.plain_text import sanitize_line
from state import Usage

TRACE_VERSION = 1
_UNFINISHED_STATUSES: Final = {"stopped": "stopped", "asked": "needs_input"}
"""The status of a run without an answer, by the key of the runner's last note."""
UNREADABLE: Final = "unreadable"
"""The status of a run whose log has another form."""
LogEntry = Mapping[str, Any]


class ThreadUnknown(UsageError):
    """No run has this thread id here."""

    code = "THREAD_UNKNOWN"


def get_log_path(thread: str, settings: Settings) -> Path:
    """Return the path of a thread's event log."""
    return settings.home / "traces" / f"{thread}.jsonl"


def load_trace(thread: str, settings: Settings) -> dict[str, Any]:
    """Return the trace of a thread: every event; tasks and figures of its last request.

    Raises:
        ThreadUnknown: no run has this thread id.
        TraceUnreadable: its log has another form than this version writes.
    """
    entries = read_thread_log(thread, settings)
    with refuse_other_forms(thread, settings):
        return build_trace(entries)


@contextmanager
def refuse_other_forms(thread: str, settings: Settings) -> Iterator[None]:
    """Turn what values of another form break inside into one line.

    Raises:
        TraceUnreadable: a value has not the form that this version reads.
    """
    try:
        yield
    except FORM_ERRORS as error:
        raise TraceUnreadable(
            f"the log of thread {thread!r} cannot be read",
            cause=f"{type(error).__name__} {sanitize_line(str(error), 200)}",
            next=f"see {get_log_path(thread, settings)}",
        ) from None


def read_thread_log(thread: str, settings: Settings) -> list[dict[str, Any]]:
    """Return the entries of a thread's event log, in order.

    Raises:
        ThreadUnknown: no run has this thread id.
    """
    try:
        return list(event_log.read_log_entries(get_log_path(thread, settings)))
    except (FileNotFoundError, NotADirectoryError):
        raise ThreadUnknown(
            f"no thread {thread!r}", next="`supervise runs` lists the threads there are"
        ) from None


def build_trace(entries: Iterable[LogEntry]) -> dict[str, Any]:
    """Build the trace from the entries of an event log."""
    notes: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    entries = list(entries)
    for entry in entries:
        (events if "kind" in entry else notes).append(dict(entry))
    turn = select_last_request(events)
    answer = next(
        (event for event in reversed(_select_events(turn)) if event["kind"] == "answer"), None
    )
    return {
        "version": TRACE_VERSION,
        "run": _build_run(notes, events, turn, answer),
        "plans": _list_plans(_select_events(events)),
        "tasks": _build_tasks(turn),
        "events": events,
        "usage": answer["usage"] if answer else _sum_usage(entries),
        "timing": answer["timing"] if answer else {"wall_s": _measure_span(turn)},
    }


def list_runs(settings: Settings) -> list[dict[str, Any]]:
    """Return a summary of each thread, the newest first; that of a damaged log says so."""
    found: list[tuple[float, dict[str, Any]]] = []
    for path in (settings.home / "traces").glob("*.jsonl"):
        with suppress(FileNotFoundError):  # another process has just pruned it
            found.append((path.stat().st_mtime, _summarize_log(path)))
    found.sort(key=lambda run: -run[0])
    return [run for _, run in found]


def _summarize_log(path: Path) -> dict[str, Any]:
    try:
        trace = build_trace(event_log.read_log_entries(path))
        wall_s = trace["timing"].get("wall_s")
        known = {"wall_s": None if wall_s is None else float(wall_s)}
        return {**trace["run"], **known, "thread": path.stem}
    except FORM_ERRORS:
        return {"thread": path.stem, "status": UNREADABLE}


def select_last_request(events: list[dict[str, Any]], within: str = "") -> list[dict[str, Any]]:
    """Return the events from the last request on; `within` is the task of an inner team."""
    starts = [
        index
        for index, event in enumerate(events)
        if event["kind"] == "request" and event.get("within", "") == within
    ]
    return events[starts[-1] :] if starts else events


def _select_events(events: list[dict[str, Any]], within: str = "") -> list[dict[str, Any]]:
    """Return the events of one supervisor's own run: the outer one, or a team's inside a task."""
    return [event for event in events if event.get("within", "") == within]


def _build_run(
    notes: list[dict[str, Any]],
    events: list[dict[str, Any]],
    turn: list[dict[str, Any]],
    answer: LogEntry | None,
) -> dict[str, Any]:
    run: dict[str, Any] = {"resumed": 0}
    unended = "running"
    for note in notes:
        run |= note.get("run", {})
        run["resumed"] += "resumed" in note
        unended = next(
            (status for key, status in _UNFINISHED_STATUSES.items() if key in note), "running"
        )
    request = next((event for event in turn if event["kind"] == "request"), {})
    shown = ("request", "models", "materials", "kept_materials", "strategy", "grant")
    run |= {key: request[key] for key in shown if key in request}
    last = turn[-1] if turn else {}
    ended = answer["status"] if answer else "failed" if last.get("kind") == "error" else unended
    asked = {"questions": notes[-1]["asked"]} if ended == "needs_input" else {}
    return {**run, "status": ended, "events": len(events), **asked}


def _list_plans(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every version of the plan: as created, as revised, as edited by the user."""
    kinds = ("plan_created", "plan_revised", "plan_approved")
    return [event["plan"] for event in events if event["kind"] in kinds and "plan" in event]


def _build_tasks(turn: list[dict[str, Any]], within: str = "") -> list[dict[str, Any]]:
    """Return the tasks of the last plan with their states; a team's task holds the team's tasks."""
    plans = _list_plans(_select_events(turn, within))
    by_task: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in turn:
        by_task[event.get("task", "")].append(event)
    found = []
    for task in plans[-1]["tasks"] if plans else ():
        path = "/".join(filter(None, [within, task["id"]]))
        inner = {"team": nested} if (nested := _build_nested_run(turn, path)) else {}
        own = [event for event in by_task[path] if event.get("within", "") == within]
        found.append({**task, **_find_task_status(own), **inner})
    return found


def _build_nested_run(turn: list[dict[str, Any]], path: str) -> dict[str, Any]:
    """Return the run of the team that did a task, in the last attempt; empty without a team."""
    if not _select_events(turn, path):
        return {}
    last = select_last_request(turn, path)
    started = next((event for event in last if event["kind"] == "request"), {})
    return {
        "name": started.get("team", ""),
        "plans": _list_plans(_select_events(last, path)),
        "tasks": _build_tasks(last, path),
    }


def _find_task_status(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the status of a task, by its last event."""
    outcome: dict[str, Any] = {"status": "waiting", "report": None}
    for event in events:
        if event["kind"] == "task_started":
            outcome = {"status": "working", "report": None}
        elif event["kind"] == "report":
            outcome = {"status": event["report"]["status"], "report": event["report"]}
        elif event["kind"] == "task_skipped":
            outcome = {"status": "skipped", "report": None, "reason": event.get("reason")}
    return outcome


def _sum_usage(entries: Iterable[LogEntry]) -> dict[str, Any]:
    return sum(sum_usage_by_tier(entries).values(), Usage()).model_dump(mode="json")


def _measure_span(turn: list[dict[str, Any]]) -> float:
    return float(turn[-1]["t"] - turn[0]["t"]) if turn else 0.0
