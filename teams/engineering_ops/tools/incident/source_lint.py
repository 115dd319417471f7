"""Lint the source files of an incident with ruff's version of Pyflakes."""

import subprocess
from collections.abc import Sequence

from extensions.tools.linting.ruff_process import lint_files
from nodes.tools.framework.tool_report import ToolReport, join_names

from .sources import SourceFile

RUFF_RULES = ("F5", "F6", "F7", "F81", "F82", "B006", "B015", "PLE")
MAX_FILES, MAX_FINDINGS = 20, 8


def add_lint_findings(sources: Sequence[SourceFile], reply: ToolReport) -> None:
    """Add undefined names, wrong formats and similar defects, up to a limit."""
    python = {source.name: source.text for source in sources if source.tree}
    checked = dict(list(python.items())[:MAX_FILES])
    try:
        # Comments in the files must not disable rules.
        hits = lint_files(checked, RUFF_RULES, "--ignore-noqa")
    except (OSError, ValueError, RuntimeError, subprocess.TimeoutExpired):
        hits, checked = [], {}
    for hit in hits[:MAX_FINDINGS]:
        reply.add_finding("medium", f"{hit.message} ({hit.code})", hit.file, line=hit.line)
    if (more := len(hits) - MAX_FINDINGS) > 0:
        reply.gaps.append(f"{more} more slips are left out.")
    if left := [name for name in python if name not in checked]:
        reply.failures.append(f"ruff did not look at {join_names(left)}")
