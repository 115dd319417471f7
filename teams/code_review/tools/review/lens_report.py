"""Build the report of a lens: summary, claims, findings, gaps; of limited size."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from nodes.tools.framework.tool_report import build_failures_part
from nodes.tools.linting.finding import SEVERITIES, ReviewFinding

from .diff import ParsedDiff, format_names
from .hits import list_waived_lines

MIN_SURE_CONFIDENCE = 80
"""Below it a finding is a hint: passed to the worker's model, and left out by most teams."""
MAX_HINTS = 10
MAX_CHARS = 16_000
"""Limit on all findings as JSON."""

_SEVERITY_RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def build_report(
    change: ParsedDiff,
    found: Iterable[ReviewFinding],
    *,
    names: Sequence[str],
    tools: str,
    gaps: Sequence[str] = (),
    failures: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> dict[str, Any]:
    """Build the report of a lens on the named diffs; empty `tools`: nothing was checked."""
    ranked = sorted(found, key=_get_rank)
    sure = [finding for finding in ranked if finding.confidence >= MIN_SURE_CONFIDENCE]
    hints = [finding for finding in ranked if finding.confidence < MIN_SURE_CONFIDENCE]
    shown = _limit_size([*sure, *hints[:MAX_HINTS]])
    cut = len(sure) - sum(finding.confidence >= MIN_SURE_CONFIDENCE for finding in shown)
    cuts = [f"{cut} more findings by {tools} are left out; the gravest are listed"] if cut else []
    if not any(file.added for file in change.files):
        cuts.append("The diff adds no lines that could be reviewed")
    diff = ", ".join(names)
    return {
        "summary": "\n".join(filter(None, [_summarize_findings(sure, hints, tools), *remarks])),
        "claims": [{"text": f"{diff} {_describe_size(change)}.", "source": names[0]}],
        "findings": [asdict(finding) for finding in shown],
        "gaps": [*change.skipped_parts, *gaps, *cuts],
        **build_failures_part((*change.unread_parts, *failures)),
    }


def build_escalation(reason: str, message: str) -> dict[str, Any]:
    """Return an escalation: there is nothing that could be reviewed."""
    return {"escalation": {"reason": reason, "message": message}}


def list_scope_gaps(change: ParsedDiff, lost: Sequence[str]) -> list[str]:
    """Return which parts of the change no rule for Python could check."""
    gaps = list[str]()
    python = [file for file in change.files if file.is_python and file.added]
    others = [file.path for file in change.files if not file.is_python and file.added]
    if others:
        gaps.append(
            f"Not Python, so read for secrets and merge markers only: {format_names(others)}"
        )
    if lost:
        gaps.append(f"Parts that are not Python by themselves were left out: {format_names(lost)}")
    partly = [file.path for file in python if file.full_text is None]
    if partly:
        gaps.append(
            "Unused imports, undefined names and the like were not looked for, as only a part is "
            f"known of {format_names(partly)}; give the whole files too, or set "
            "SUPERVISE_REPOSITORY"
        )
    waived = [f"{file.path}:{line}" for file in python for line in list_waived_lines(file)]
    if waived:
        gaps.append(
            f"Lines that say `noqa` were passed over, but for security: {format_names(waived)}"
        )
    return gaps


def _summarize_findings(
    sure: Sequence[ReviewFinding], hints: Sequence[ReviewFinding], tools: str
) -> str:
    if not tools:
        return ""
    counts = Counter(finding.severity for finding in sure)
    words = ", ".join(f"{counts[name]} {name}" for name in _SEVERITY_RANKS if counts[name])
    result = f"{_format_count(len(sure), 'finding')} ({words})" if sure else "No findings"
    weak = (
        f"; {_format_count(len(hints), 'hint')} below a confidence of {MIN_SURE_CONFIDENCE}"
        if hints
        else ""
    )
    return f"{result} by {tools}{weak}."


def _describe_size(change: ParsedDiff) -> str:
    added = sum(len(file.added) for file in change.files)
    removed = sum(len(file.removed) for file in change.files)
    files = _format_count(len(change.files), "file")
    return f"adds {_format_count(added, 'line')} and removes {removed} in {files}"


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _limit_size(found: Sequence[ReviewFinding]) -> list[ReviewFinding]:
    kept, left = list[ReviewFinding](), MAX_CHARS
    for finding in found:
        left -= len(json.dumps(asdict(finding))) + 2
        if left < 0:
            break
        kept.append(finding)
    return kept


def _get_rank(finding: ReviewFinding) -> tuple[int, int, str, int]:
    rank = _SEVERITY_RANKS[finding.severity] + len(_SEVERITY_RANKS) * (
        finding.confidence < MIN_SURE_CONFIDENCE
    )
    return rank, -finding.confidence, finding.file, finding.line or 0
