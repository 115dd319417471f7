"""A lens's findings in the report's own words: summary, claims, findings, gaps; of limited size."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from nodes.tools.replies import with_failures
from nodes.tools.review.diff import Change, listed
from nodes.tools.review.found import SEVERITIES, Found
from nodes.tools.review.hits import waived_lines

SURE = 80
"""Below it a finding is a hint: told to the worker's model, and left out by most teams."""
MAX_HINTS = 10
MAX_CHARS = 16_000
"""Of all findings as JSON."""

_RANK = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def told(
    change: Change,
    found: Iterable[Found],
    *,
    names: Sequence[str],
    tools: str,
    gaps: Sequence[str] = (),
    failures: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> dict[str, Any]:
    """Compose the answer of a lens to the diffs of these names; no tools, nothing looked at."""
    ranked = sorted(found, key=_rank)
    sure = [finding for finding in ranked if finding.confidence >= SURE]
    hints = [finding for finding in ranked if finding.confidence < SURE]
    shown = _fitting([*sure, *hints[:MAX_HINTS]])
    cut = len(sure) - sum(finding.confidence >= SURE for finding in shown)
    cuts = [f"{cut} more findings by {tools} are left out; the gravest are listed"] if cut else []
    if not any(file.added for file in change.files):
        cuts.append("The diff adds no lines that could be reviewed")
    diff = ", ".join(names)
    return {
        "summary": "\n".join(filter(None, [_summary(sure, hints, tools), *remarks])),
        "claims": [{"text": f"{diff} {_size(change)}.", "source": names[0]}],
        "findings": [asdict(finding) for finding in shown],
        "gaps": [*change.passed_over, *gaps, *cuts],
        **with_failures((*change.unread, *failures)),
    }


def handed_back(reason: str, message: str) -> dict[str, Any]:
    """Say that there is nothing that could be reviewed."""
    return {"escalation": {"reason": reason, "message": message}}


def scope(change: Change, lost: Sequence[str]) -> list[str]:
    """Say what of the change no rule for Python could look at."""
    gaps = list[str]()
    python = [file for file in change.files if file.is_python and file.added]
    others = [file.path for file in change.files if not file.is_python and file.added]
    if others:
        gaps.append(f"Not Python, so read for secrets and merge markers only: {listed(others)}")
    if lost:
        gaps.append(f"Parts that are no Python by themselves were left out: {listed(lost)}")
    partly = [file.path for file in python if file.whole is None]
    if partly:
        gaps.append(
            "Unused imports, undefined names and the like were not looked for, as only a part is "
            f"known of {listed(partly)}; give the whole files too, or set SUPERVISE_REPOSITORY"
        )
    waived = [f"{file.path}:{line}" for file in python for line in waived_lines(file)]
    if waived:
        gaps.append(f"Lines that say `noqa` were passed over, but for security: {listed(waived)}")
    return gaps


def _summary(sure: Sequence[Found], hints: Sequence[Found], tools: str) -> str:
    if not tools:
        return ""
    counts = Counter(finding.severity for finding in sure)
    words = ", ".join(f"{counts[name]} {name}" for name in _RANK if counts[name])
    result = f"{_counted(len(sure), 'finding')} ({words})" if sure else "No findings"
    weak = f"; {_counted(len(hints), 'hint')} below a confidence of {SURE}" if hints else ""
    return f"{result} by {tools}{weak}."


def _size(change: Change) -> str:
    added = sum(len(file.added) for file in change.files)
    removed = sum(len(file.removed) for file in change.files)
    files = _counted(len(change.files), "file")
    return f"adds {_counted(added, 'line')} and removes {removed} in {files}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _fitting(found: Sequence[Found]) -> list[Found]:
    kept, left = list[Found](), MAX_CHARS
    for finding in found:
        left -= len(json.dumps(asdict(finding))) + 2
        if left < 0:
            break
        kept.append(finding)
    return kept


def _rank(finding: Found) -> tuple[int, int, str, int]:
    rank = _RANK[finding.severity] + len(_RANK) * (finding.confidence < SURE)
    return rank, -finding.confidence, finding.file, finding.line or 0
