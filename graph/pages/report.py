"""The report of a run: one HTML file that holds its trace."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from graph.pages.built_page import format_page, load_built_page
from graph.pages.report_trace import shrink_trace
from graph.runs.trace import TraceUnreadable
from nodes.errors import OutputFailed
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
    return format_page(
        load_built_page("report"), title=title, name="trace", value=shrink_trace(trace)
    )


def write_report(trace: Mapping[str, Any], path: Path) -> None:
    """Write the report of a run.

    Raises:
        TraceUnreadable: the trace holds no run.
        OutputFailed: the file cannot be written.
    """
    page = format_report(trace)
    try:
        path.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputFailed(
            f"cannot write {path}", cause=error.strerror or str(error), next="name another file"
        ) from error
