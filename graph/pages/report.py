"""The report of a run: one HTML file that holds its trace, each plan once, and long texts cut."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from graph.display.streams import write_to_file
from graph.extensions import collect
from graph.pages.built_page import format_page, load_built_page
from graph.runs.trace import TraceUnreadable
from nodes.text.plain_text import sanitize_line

MAX_TITLE_CHARS: Final = 80


def format_report(trace: Mapping[str, Any]) -> str:
    """Return the report of a run as one HTML file without network.

    Args:
        trace: as `load_trace` returns it.

    Raises:
        TraceUnreadable: the trace holds no run.
    """
    request = (trace.get("run") or {}).get("request")
    if not isinstance(request, str):
        raise TraceUnreadable(
            "the trace holds no request of a run",
            next="`supervise runs` lists the threads there are",
        )
    title = f"{sanitize_line(request, MAX_TITLE_CHARS)} · run report"
    explained = {**trace, "why": collect(lambda each: each.explain_run(trace))}
    return format_page(
        load_built_page("report"), title=title, name="trace", value=shrink_trace(explained)
    )


def write_report(trace: Mapping[str, Any], path: Path) -> None:
    """Write the report of a run.

    Raises:
        TraceUnreadable: the trace holds no run.
        OutputFailed: the file cannot be written.
    """
    write_to_file(format_report(trace), path)


Json = Mapping[str, Any]

MAX_BYTES: Final = 4_000_000
"""Of the trace in a report, with the page below 5 MB."""
_MAX_CHARS: Final = (200_000, 50_000, 10_000, 4_000, 2_000, 1_000, 500, 200)
"""Of one text, from the first that keeps the trace small enough."""
_LEFT_OUT_KINDS: Final = frozenset(("ui",))
"""Events for chat clients, which repeat what others say."""
_KEPT_KINDS: Final = frozenset(
    (
        "request",
        "plan_created",
        "plan_approved",
        "plan_revised",
        "task_started",
        "report",
        "task_skipped",
        "answer",
        "error",
    )
)
"""Events without which a page cannot show when a task was at work."""
_MAX_DEPTH: Final = 60
"""Of JSON in JSON."""


def shrink_trace(trace: Json) -> dict[str, Any]:
    """Return a trace of about `MAX_BYTES` at most, with what was done to it in its `run`.

    A plan and a report that an event repeats are left out of it: the page puts them back.
    `cut_texts` is the number of texts that were cut, `left_out_events` that of events: only of a
    trace that is too large with all its texts cut, and none that says when a task was at work.
    """
    events = list(_list_events(trace))
    shrunk, cut_texts = _cut_to_size({**trace, "events": events})
    if _measure_bytes(shrunk) > MAX_BYTES:
        events = [event for event in events if event.get("kind") in _KEPT_KINDS]
        left_out = len(shrunk["events"]) - len(events)
        shrunk, cut_texts = _cut_to_size({**trace, "events": events})
        shrunk["run"]["left_out_events"] = left_out
    shrunk["run"]["cut_texts"] = cut_texts
    return shrunk


def _cut_to_size(trace: Json) -> tuple[dict[str, Any], int]:
    """Return a trace with its texts cut at the first limit that suffices, and how many were."""
    for max_chars in _MAX_CHARS:
        cutter = _Cutter(max_chars)
        shrunk = {str(key): cutter.cut(value) for key, value in trace.items()}
        if _measure_bytes(shrunk) <= MAX_BYTES:
            break
    return shrunk, cutter.cut_texts


def _measure_bytes(value: Any) -> int:
    """Return the size of JSON in a file."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _list_events(trace: Json) -> Iterator[Any]:
    plans = _get_list(trace, "plans")
    reports = dict(_list_reports(trace))
    for event in _get_list(trace, "events"):
        kind = event.get("kind") if isinstance(event, Mapping) else "ui"
        if kind in _LEFT_OUT_KINDS:
            continue
        if "plan" in event and event["plan"] in plans:
            yield {**event, "plan": plans.index(event["plan"])}
        elif kind == "report" and event.get("report") == reports.get(event.get("task", ""), ()):
            yield {key: value for key, value in event.items() if key != "report"}
        else:
            yield event


def _list_reports(trace: Json, within: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the report of each task, by its path, and those of the teams in the tasks."""
    for task in _get_list(trace, "tasks"):
        if isinstance(task, Mapping):
            path = f"{within}{task.get('id')}"
            yield path, task.get("report")
            yield from _list_reports(task.get("team") or {}, f"{path}/")


def _get_list(value: Any, key: str) -> list[Any]:
    """Return a list of a trace, which may be another program's; empty if it is none."""
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else []


class _Cutter:
    """Cuts texts at a limit, each with a note of how much is missing, and counts them."""

    def __init__(self, max_chars: int) -> None:
        self.max_chars = max_chars
        self.cut_texts = 0

    def cut(self, value: Any, depth: int = 0) -> Any:
        """Return JSON, of any form, with its texts cut."""
        if isinstance(value, str):
            return self._cut_text(value)
        if depth == _MAX_DEPTH and isinstance(value, Mapping | list | tuple):
            self.cut_texts += 1
            return "…"
        if isinstance(value, Mapping):
            return {self._cut_text(str(k)): self.cut(item, depth + 1) for k, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.cut(item, depth + 1) for item in value]
        return value

    def _cut_text(self, text: str) -> str:
        if len(text) <= self.max_chars:
            return text
        self.cut_texts += 1
        return f"{text[: self.max_chars]} … [{len(text) - self.max_chars:,} characters more]"
