"""Lint the source files of an incident with ruff's version of Pyflakes."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from nodes.tools.framework.tool_report import ToolReport, join_names
from nodes.tools.linting.ruff_process import run_ruff

from .sources import SourceFile

RUFF_RULES = "F5,F6,F7,F81,F82,B006,B015,PLE"
MAX_FILES, MAX_FINDINGS = 20, 8


def add_lint_findings(sources: Sequence[SourceFile], reply: ToolReport) -> None:
    """Add undefined names, wrong formats and similar defects, up to a limit."""
    python = [source for source in sources if source.tree]
    checked, left = python[:MAX_FILES], [source.name for source in python[MAX_FILES:]]
    with TemporaryDirectory() as folder:
        for number, source in enumerate(checked):
            Path(folder, f"{number}.py").write_text(source.text, encoding="utf-8")
        try:
            # Comments in the files must not disable rules.
            hits = run_ruff(Path(folder), "--ignore-noqa", "--select", RUFF_RULES)
        except (OSError, ValueError, RuntimeError, subprocess.TimeoutExpired):
            hits, left = [], [source.name for source in python]
    for hit in hits[:MAX_FINDINGS]:
        name = checked[int(Path(hit["filename"]).stem)].name
        message = f"{hit['message']} ({hit['code']})"
        reply.add_finding("medium", message, name, line=hit["location"]["row"])
    if (more := len(hits) - MAX_FINDINGS) > 0:
        reply.gaps.append(f"{more} more slips are left out.")
    reply.failures += [f"ruff did not look at {join_names(left)}"] * bool(left)
