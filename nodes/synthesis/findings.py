"""Merges the findings of all reports into one ranked list without duplicates."""

import posixpath
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import get_args

from nodes.limits.patterns import Pattern
from nodes.text.terms import extract_terms, measure_overlap
from state import MergedFinding, Report, Severity

MAX_LINES_APART = 3
"""Maximum distance of two findings in one file that are about the same place."""
MIN_OVERLAP = 0.5
"""Minimum share of the shorter message's terms in both messages for the same topic."""
MIN_SHARED = 2
"""Minimum number of terms in both messages, unless their terms are equal."""

_RULE_NAME = Pattern(r"\[([A-Za-z][\w-]*+)[^\[\]]*+\]$")
"""The rule or check of a finding, if its message ends with one in brackets."""
_SEVERITY_RANKS = {severity: rank for rank, severity in enumerate(get_args(Severity))}


_extract_terms_cached = lru_cache(maxsize=2000)(extract_terms)


def collect_findings(
    reports: Iterable[Report], *, min_confidence: int
) -> tuple[MergedFinding, ...]:
    """Return the findings of the reports, merged, ranked and of enough or unknown confidence.

    One of unknown confidence is kept: a defect must not disappear because a model left out a
    number. The reader is shown that its confidence is unknown.
    """
    findings = [
        MergedFinding(**dict(finding), reporters=(report.task,))
        for report in reports
        for finding in report.findings
    ]
    return tuple(
        each
        for each in merge_findings(findings)
        if each.confidence is None or each.confidence >= min_confidence
    )


def merge_findings(findings: Sequence[MergedFinding]) -> tuple[MergedFinding, ...]:
    """Return the findings with duplicates merged, ranked by severity, then confidence.

    An unknown confidence ranks below all known ones. A merged finding has the message of its most
    severe member, the highest severity and confidence, and all reporters. The order of the findings
    does not matter, and merging again changes nothing.
    """
    by_file: dict[str, list[MergedFinding]] = {}
    for finding in findings:
        by_file.setdefault(posixpath.normpath(finding.file), []).append(finding)
    kept = [finding for group in by_file.values() for finding in _merge_until_stable(group)]
    return tuple(sorted(kept, key=_rank_finding))


def _merge_until_stable(findings: list[MergedFinding]) -> list[MergedFinding]:
    """Return one file's findings, merged until all differ; same lines merge first."""
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
    known = [each.confidence for each in (head, other) if each.confidence is not None]
    confidence = max(known, default=None)
    return head.model_copy(update={"reporters": reporters, "confidence": confidence})


def _is_same_finding(left: MergedFinding, right: MergedFinding, lines_apart: int) -> bool:
    """Return whether two findings of one file are the same; for one worker, only exact repeats."""
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
    rules = [match[1] for text in (left, right) if (match := _RULE_NAME.search(text))]
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
        1 if finding.confidence is None else -finding.confidence,
        *place,
        finding.model_dump_json(),
    )
