"""The findings of all reports as one ranked list, each matter once."""

import posixpath
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import get_args

from nodes.limits.patterns import Pattern
from nodes.text.terms import extract_terms, measure_overlap
from state import MergedFinding, Report, Severity

MAX_LINES_APART = 3
"""Two remarks so near each other, in one file, are about the same place."""
MIN_OVERLAP = 0.5
"""Share of the shorter message's terms that both have, from which the matter is the same."""
MIN_SHARED = 2
"""Terms that both must have, unless they have no other."""

_RULE_NAME = Pattern(r"\[([A-Za-z][\w-]*+)[^\[\]]*+\]$")
"""The rule or check that a finding comes from, where its message ends with one in brackets."""
_SEVERITY_RANKS = {severity: rank for rank, severity in enumerate(get_args(Severity))}


_extract_terms_cached = lru_cache(maxsize=2000)(extract_terms)


def collect_findings(
    reports: Iterable[Report], *, min_confidence: int
) -> tuple[MergedFinding, ...]:
    """Return the findings of the reports: merged, those below the confidence left out, ranked."""
    found = [
        MergedFinding(**dict(finding), reporters=(report.task,))
        for report in reports
        for finding in report.findings
    ]
    return tuple(each for each in merge_findings(found) if each.confidence >= min_confidence)


def merge_findings(findings: Sequence[MergedFinding]) -> tuple[MergedFinding, ...]:
    """Merge findings that are the same, and rank by severity, then confidence.

    A merged finding has the words of its gravest member, the highest severity and confidence, and
    all reporters. The order of the findings does not matter, and merging again changes nothing.
    """
    by_file: dict[str, list[MergedFinding]] = {}
    for finding in findings:
        by_file.setdefault(posixpath.normpath(finding.file), []).append(finding)
    kept = [finding for found in by_file.values() for finding in _merge_until_stable(found)]
    return tuple(sorted(kept, key=_rank_finding))


def _merge_until_stable(findings: list[MergedFinding]) -> list[MergedFinding]:
    """Merge the findings of one file until no two are the same; those of one line go first."""
    count = -1
    while count != len(findings):
        count = len(findings)
        for lines_apart in (0, MAX_LINES_APART):
            findings = _merge_once(findings, lines_apart)
    return findings


def _merge_once(findings: Iterable[MergedFinding], lines_apart: int) -> list[MergedFinding]:
    heads = list[MergedFinding]()
    for finding in sorted(findings, key=_rank_finding):
        same = (at for at, head in enumerate(heads) if _is_same_finding(head, finding, lines_apart))
        at = next(same, None)
        if at is None:
            heads.append(finding)
        else:
            heads[at] = _merge_pair(heads[at], finding)
    return heads


def _merge_pair(head: MergedFinding, other: MergedFinding) -> MergedFinding:
    reporters = tuple(sorted({*head.reporters, *other.reporters}))
    confidence = max(head.confidence, other.confidence)
    return head.model_copy(update={"reporters": reporters, "confidence": confidence})


def _is_same_finding(left: MergedFinding, right: MergedFinding, lines_apart: int) -> bool:
    """Compare two findings of one file; a worker that says two things of a file means two."""
    if set(left.reporters) & set(right.reporters):
        return left.line == right.line and _extract_terms_cached(
            left.message
        ) == _extract_terms_cached(right.message)
    return _is_near(left.line, right.line, lines_apart) and _is_same_topic(
        left.message, right.message
    )


def _is_near(left: int | None, right: int | None, lines_apart: int) -> bool:
    if left is None or right is None:
        return left is right
    return abs(left - right) <= lines_apart


def _is_same_topic(left: str, right: str) -> bool:
    rules = [found[1] for text in (left, right) if (found := _RULE_NAME.search(text))]
    if len(set(rules)) > 1:
        return False
    ours, theirs = _extract_terms_cached(left), _extract_terms_cached(right)
    if ours == theirs:
        return bool(ours) or left == right
    return len(ours & theirs) >= MIN_SHARED and measure_overlap(ours, theirs) >= MIN_OVERLAP


def _rank_finding(finding: MergedFinding) -> tuple[int, int, str, int, str]:
    place = (finding.file, finding.line or 0)
    return (
        _SEVERITY_RANKS[finding.severity],
        -finding.confidence,
        *place,
        finding.model_dump_json(),
    )
