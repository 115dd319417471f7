"""The findings of all reports as one ranked list, each matter once."""

import posixpath
from collections.abc import Iterable, Sequence
from typing import get_args

from nodes.synthesis.terms import overlap, terms
from state import Finding, MergedFinding, Report, Severity

MAX_LINES_APART = 3
"""Two remarks so near each other, in one file, are about the same place."""
MIN_OVERLAP = 0.5
"""Share of the shorter message's terms that both have, from which the matter is the same."""
MIN_SHARED = 2
"""Terms that both must have, unless they have no other."""

_RANK = {severity: rank for rank, severity in enumerate(get_args(Severity))}


def gather(reports: Iterable[Report], *, min_confidence: int) -> tuple[MergedFinding, ...]:
    """Give the findings of the reports: merged, those below the confidence left out, ranked."""
    found = [
        MergedFinding(**dict(finding), reporters=(report.task,))
        for report in reports
        for finding in report.findings
    ]
    return tuple(each for each in merged(found) if each.confidence >= min_confidence)


def merged(findings: Sequence[MergedFinding]) -> tuple[MergedFinding, ...]:
    """Merge findings that are the same, and rank by severity, then confidence.

    A merged finding has the words of its gravest member, the highest severity and confidence, and
    all reporters. The order of the findings does not matter, and merging again changes nothing.
    """
    groups: list[list[MergedFinding]] = []
    for finding in findings:
        same = [group for group in groups if any(_is_same(finding, other) for other in group)]
        groups = [group for group in groups if group not in same]
        groups.append([finding, *(other for group in same for other in group)])
    return tuple(sorted(map(_joined, groups), key=_rank))


def _joined(group: Sequence[MergedFinding]) -> MergedFinding:
    first = min(group, key=_rank)
    reporters = sorted({name for finding in group for name in finding.reporters})
    confidence = max(finding.confidence for finding in group)
    return first.model_copy(update={"reporters": tuple(reporters), "confidence": confidence})


def _is_same(left: Finding, right: Finding) -> bool:
    return _is_same_place(left, right) and _is_same_matter(left.message, right.message)


def _is_same_place(left: Finding, right: Finding) -> bool:
    if posixpath.normpath(left.file) != posixpath.normpath(right.file):
        return False
    if left.line is None or right.line is None:
        return left.line is right.line
    return abs(left.line - right.line) <= MAX_LINES_APART


def _is_same_matter(left: str, right: str) -> bool:
    ours, theirs = terms(left), terms(right)
    if ours == theirs:
        return bool(ours) or left == right
    return len(ours & theirs) >= MIN_SHARED and overlap(ours, theirs) >= MIN_OVERLAP


def _rank(finding: MergedFinding) -> tuple[int, int, str, int, str]:
    place = (finding.file, finding.line or 0)
    return (_RANK[finding.severity], -finding.confidence, *place, finding.model_dump_json())
