"""Lint a file with ruff's version of Pyflakes."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ruff import find_ruff_bin  # type: ignore[import-untyped]

from nodes.tools.framework.tool_report import join_names

from .sources import SourceFile

RUFF_RULES = "F5,F6,F7,F81,F82,B006,B015,PLE"
MAX_FILES, MAX_LINT_FINDINGS = 20, 8
TIMEOUT_S = 20.0


@dataclass(frozen=True)
class LintFinding:
    """A defect in a line."""

    file: str
    line: int
    message: str


@dataclass(frozen=True)
class LintResult:
    """The findings, and what was not checked, in words."""

    findings: list[LintFinding]
    gaps: list[str]
    failures: list[str]


def lint_source_files(sources: Sequence[SourceFile]) -> LintResult:
    """Find undefined names, wrong formats and similar defects, up to a limit."""
    python = [source for source in sources if source.is_python and source.tree]
    found, failed = list[LintFinding](), list[str]()
    for source in python[:MAX_FILES]:
        try:
            found += _lint_file(source)
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
            failed.append(source.name)
    left = [source.name for source in python[MAX_FILES:]]
    failures = [f"ruff could not read {join_names(failed)}"] * bool(failed)
    failures += [f"ruff did not look at {join_names(left)}"] * bool(left)
    more = len(found) - MAX_LINT_FINDINGS
    return LintResult(
        found[:MAX_LINT_FINDINGS], [f"{more} more slips are left out."] * (more > 0), failures
    )


def _lint_file(source: SourceFile) -> Iterator[LintFinding]:
    """Lint one file.

    Raises:
        OSError, ValueError, KeyError, subprocess.TimeoutExpired: ruff did not answer.
    """
    # Comments in the file must not disable rules, and no configuration is looked for.
    options = ["--isolated", "--no-cache", "--ignore-noqa", "--output-format", "json"]
    command = [find_ruff_bin(), "check", *options, "--select", RUFF_RULES, "-"]
    done = subprocess.run(
        command, input=source.text.encode(), capture_output=True, timeout=TIMEOUT_S, check=False
    )
    for item in json.loads(done.stdout):
        line = item["location"]["row"]
        yield LintFinding(source.name, line, f"{item['message']} ({item['code']})")
