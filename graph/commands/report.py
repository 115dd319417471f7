"""`--report` and `--format html`: the report of a run as a file, or on stdout."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph.display.stderr_console import print_to_stderr
from graph.display.streams import print_to_stdout
from graph.pages.report import format_report, write_report
from graph.runs.trace import TraceUnreadable
from nodes.errors import OutputFailed


def print_report(trace: Mapping[str, Any], out: Path | None) -> int:
    """Write the report of a run to a file, or to stdout without one."""
    if (trace.get("run") or {}).get("status") == "running":
        print_to_stderr("the run has not ended: the page is of what it has done", style="yellow")
    if out is None:
        print_to_stdout(format_report(trace))
    else:
        write_report(trace, out)
    return 0


def save_report(trace: Mapping[str, Any], path: Path) -> None:
    """Write the report beside a command's own output; a failure prints a warning."""
    try:
        write_report(trace, path)
    except (OutputFailed, TraceUnreadable) as error:
        print_to_stderr(f"warning: {error}", style="yellow")
