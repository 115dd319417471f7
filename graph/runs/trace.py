"""The trace of a thread, read from its event log, in the documented format."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from graph.runs import event_log
from graph.runs.event_log import FORM_ERRORS
from graph.runs.run_view import RunView
from graph.settings import Settings
from nodes.errors import UsageError
from nodes.text.plain_text import sanitize_line
from state import Tier, Usage

TRACE_VERSION = 1
UNREADABLE: Final = "unreadable"
"""The status of a run whose log has another form."""
LogEntry = Mapping[str, Any]


class ThreadUnknown(UsageError):
    """No run has this thread id here."""


class TraceUnreadable(UsageError):
    """A file holds no events of a run."""


def get_log_path(thread: str, settings: Settings) -> Path:
    """Return the path of a thread's event log."""
    return settings.home / "traces" / f"{thread}.jsonl"


def get_record_path(thread: str, settings: Settings) -> Path:
    """Return the path of a thread's record, which is for a replay."""
    return get_log_path(thread, settings).with_suffix(".record")


def get_draft_path(record: Path) -> Path:
    """Return where a record is written again; a kill may leave it there."""
    return record.with_name(f".{record.name}")


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
    """Build the trace from the entries of an event log.

    Raises:
        FORM_ERRORS: a value has not the form that this version reads.
    """
    view, events = RunView(), list[dict[str, Any]]()
    for entry in entries:
        view.apply_entry(entry)
        if "kind" in entry:
            events.append(dict(entry))
    answer = view.answer.model_extra if view.answer else None
    spent = sum(view.usage.values(), Usage())
    return {
        "version": TRACE_VERSION,
        "run": {**_build_run(view), "events": len(events)},
        "plans": view.plans,
        "tasks": _build_tasks(view),
        "events": events,
        "usage": answer["usage"] if answer else spent.model_dump(mode="json"),
        "timing": answer["timing"] if answer else {"wall_s": view.measure_span()},
    }


def usage_from_log(path: Path) -> dict[Tier, Usage]:
    """Sum the model calls of an event log's last request, by tier; empty if it is unreadable.

    Attempts that no checkpoint has saved are among them.
    """
    view = RunView()
    with suppress(OSError):
        for entry in event_log.read_log_entries(path):
            with suppress(*FORM_ERRORS):
                view.apply_entry(entry)
    return dict(view.usage)


def list_runs(settings: Settings) -> list[dict[str, Any]]:
    """Return a summary of each thread, the newest first; that of a damaged log says so."""
    found = []
    for thread in list_threads(settings):
        with suppress(FileNotFoundError):  # another process has just pruned it
            found.append(_summarize_log(get_log_path(thread, settings)))
    return found


def list_threads(settings: Settings) -> list[str]:
    """Return the threads with a log, the newest first."""
    logs: list[tuple[float, Path]] = []
    for path in get_log_path("*", settings).parent.glob("*.jsonl"):
        with suppress(FileNotFoundError):
            logs.append((-path.stat().st_mtime, path))
    return [path.stem for _, path in sorted(logs)]


def _summarize_log(path: Path) -> dict[str, Any]:
    try:
        trace = build_trace(event_log.read_log_entries(path))
        wall_s = trace["timing"].get("wall_s")
        known = {"wall_s": None if wall_s is None else float(wall_s)}
        return {**trace["run"], **known, "thread": path.stem}
    except FORM_ERRORS:
        return {"thread": path.stem, "status": UNREADABLE}


def _build_run(view: RunView) -> dict[str, Any]:
    named, request = dict(view.facts), view.request
    shown = ("request", "models", "materials", "kept_materials", "strategy", "grant")
    named |= {key: request.get(key) for key in shown if request and request.has(key)}
    status = view.unended
    if view.answer:
        status = (view.answer.model_extra or {})["status"]
    elif view.last and view.last.kind == "error":
        status = "failed"
    asked = {"questions": view.questions, "asked_at": view.asked_at}
    asked = asked if status == "needs_input" else {}
    return {**named, "status": status, **asked}


def _build_tasks(view: RunView, within: str = "") -> list[dict[str, Any]]:
    """Return the tasks of the last plan with their states; a team's task holds the team's tasks."""
    found = []
    for task in view.select_tasks(within):
        shown = {**task.planned, "status": task.status, "report": task.report}
        if task.status == "skipped":
            shown["reason"] = task.reason
        if team := view.teams.get(task.id):
            inner = _build_tasks(view, task.id)
            shown["team"] = {"name": team.name, "plans": team.plans, "tasks": inner}
        found.append(shown)
    return found
