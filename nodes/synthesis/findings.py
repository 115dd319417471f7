"""The findings of all reports as one ranked list, each matter once."""

import posixpath
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import get_args

from nodes.limits.patterns import Pattern
from nodes.synthesis.terms import overlap, terms
from state import MergedFinding, Report, Severity

MAX_LINES_APART = 3
"""Two remarks so near each other, in one file, are about the same place."""
MIN_OVERLAP = 0.5
"""Share of the shorter message's terms that both have, from which the matter is the same."""
MIN_SHARED = 2
"""Terms that both must have, unless they have no other."""

_RULE = Pattern(r"\[([A-Za-z][\w-]*+)[^\[\]]*+\]$")
"""The rule or check that a finding comes from, where its message ends with one in brackets."""
_RANK = {severity: rank for rank, severity in enumerate(get_args(Severity))}


_terms = lru_cache(maxsize=2000)(terms)


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
    by_file: dict[str, list[MergedFinding]] = {}
    for finding in findings:
        by_file.setdefault(posixpath.normpath(finding.file), []).append(finding)
    kept = [finding for found in by_file.values() for finding in _settled(found)]
    return tuple(sorted(kept, key=_rank))


def _settled(findings: list[MergedFinding]) -> list[MergedFinding]:
    """Merge the findings of one file until no two are the same; those of one line go first."""
    count = -1
    while count != len(findings):
        count = len(findings)
        for lines_apart in (0, MAX_LINES_APART):
            findings = _joined(findings, lines_apart)
    return findings


def _joined(findings: Iterable[MergedFinding], lines_apart: int) -> list[MergedFinding]:
    heads = list[MergedFinding]()
    for finding in sorted(findings, key=_rank):
        same = (at for at, head in enumerate(heads) if _is_same(head, finding, lines_apart))
        at = next(same, None)
        if at is None:
            heads.append(finding)
        else:
            heads[at] = _with(heads[at], finding)
    return heads


def _with(head: MergedFinding, other: MergedFinding) -> MergedFinding:
    reporters = tuple(sorted({*head.reporters, *other.reporters}))
    confidence = max(head.confidence, other.confidence)
    return head.model_copy(update={"reporters": reporters, "confidence": confidence})


def _is_same(left: MergedFinding, right: MergedFinding, lines_apart: int) -> bool:
    """Compare two findings of one file; a worker that says two things of a file means two."""
    if set(left.reporters) & set(right.reporters):
        return left.line == right.line and _terms(left.message) == _terms(right.message)
    return _is_near(left.line, right.line, lines_apart) and _is_same_matter(
        left.message, right.message
    )


def _is_near(left: int | None, right: int | None, lines_apart: int) -> bool:
    if left is None or right is None:
        return left is right
    return abs(left - right) <= lines_apart


def _is_same_matter(left: str, right: str) -> bool:
    rules = [found[1] for text in (left, right) if (found := _RULE.search(text))]
    if len(set(rules)) > 1:
        return False
    ours, theirs = _terms(left), _terms(right)
    if ours == theirs:
        return bool(ours) or left == right
    return len(ours & theirs) >= MIN_SHARED and overlap(ours, theirs) >= MIN_OVERLAP


def _rank(finding: MergedFinding) -> tuple[int, int, str, int, str]:
    place = (finding.file, finding.line or 0)
    return (_RANK[finding.severity], -finding.confidence, *place, finding.model_dump_json())
