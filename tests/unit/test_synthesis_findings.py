"""Findings of several reports become one ranked list."""

import random
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from nodes.synthesis.findings import collect_findings, merge_findings
from state import Finding, MergedFinding, Report, Severity

WORDS = ("sql", "injection", "query", "unused", "import", "loop", "slow", "the", "of")

findings = st.builds(
    MergedFinding,
    severity=st.sampled_from(("critical", "high", "medium", "low", "info")),
    message=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    file=st.sampled_from(("a.py", "./a.py", "b.py", "")),
    line=st.none() | st.integers(1, 20),
    confidence=st.none() | st.integers(0, 100),
    reporters=st.sampled_from((("A",), ("B",), ("A", "C"))),
)


@given(st.lists(findings, max_size=12))
def test_merging_again_changes_nothing(found: list[MergedFinding]) -> None:
    once = merge_findings(found)

    assert merge_findings(once) == once


@given(st.lists(findings, max_size=12), st.randoms())
def test_the_order_of_findings_does_not_matter(
    found: list[MergedFinding], dice: random.Random
) -> None:
    shuffled = list(found)
    dice.shuffle(shuffled)

    assert merge_findings(shuffled) == merge_findings(found)


@given(st.lists(findings, max_size=12))
def test_nothing_reported_is_lost(found: list[MergedFinding]) -> None:
    kept = merge_findings(found)

    assert {name for each in kept for name in each.reporters} == {
        name for each in found for name in each.reporters
    }
    assert find_highest_confidence(kept) == find_highest_confidence(found)


def find_highest_confidence(found: Iterable[MergedFinding]) -> int:
    return max((each.confidence or 0 for each in found), default=0)


def make_finding(message: str, line: int | None = 1, severity: Severity = "high") -> MergedFinding:
    return MergedFinding(severity=severity, message=message, file="a.py", line=line)


def test_other_words_for_one_matter_at_one_place_are_one_finding() -> None:
    ours = make_finding("SQL injection through string formatting in the query", 40)
    theirs = make_finding("User input is concatenated into a SQL query: injection", 42, "critical")

    (kept,) = merge_findings([ours, theirs])

    assert kept.severity == "critical"


def test_another_place_or_another_matter_is_another_finding() -> None:
    far = [
        make_finding("SQL injection in the query", 40),
        make_finding("SQL injection in the query", 44),
    ]
    other = [make_finding("SQL injection in the query"), make_finding("Unused import of os")]
    nowhere = [make_finding("SQL injection", None), make_finding("SQL injection", 3)]

    assert [len(merge_findings(pair)) for pair in (far, other, nowhere)] == [2, 2, 2]


def test_findings_of_different_rules_are_different_matters() -> None:
    late = make_finding("Term of the lease is over 3 years [term 2/5]")
    renewed = make_finding("Renewed term of the lease is over 1 year [renewal 3/5]")

    assert len(merge_findings([late, renewed])) == 2
    assert (
        len(merge_findings([late, make_finding("Term of the lease is over 3 years [term]")])) == 1
    )


def test_a_finding_two_workers_doubt_is_kept_when_one_is_sure() -> None:
    sure = Finding(severity="low", message="Unused import os", file="a.py", confidence=90)
    unsure = sure.model_copy(update={"confidence": 40})
    reports = [Report(task="A", findings=(unsure,)), Report(task="B", findings=(sure,))]

    assert [each.reporters for each in collect_findings(reports, min_confidence=80)] == [("A", "B")]
    assert collect_findings(reports[:1], min_confidence=80) == ()


def test_a_finding_of_unknown_confidence_is_kept_after_those_of_its_severity() -> None:
    found = (
        Finding(severity="high", message="Password in the log", line=20),
        Finding(severity="high", message="Unused import of os", line=4, confidence=85),
        Finding(severity="critical", message="SQL injection in the query", line=9),
        Finding(severity="high", message="Odd name of a loop", line=30, confidence=40),
    )
    reports = [Report(task="A", findings=found)]

    kept = collect_findings(reports, min_confidence=80)

    assert [(each.line, each.confidence) for each in kept] == [(9, None), (4, 85), (20, None)]


def test_a_confidence_that_one_worker_gives_counts_for_the_merged_finding() -> None:
    unknown = make_reported_finding("A", "SQL injection in the query", 40)
    unsure = make_reported_finding("B", "SQL injection in the query", 40)
    unsure = unsure.model_copy(update={"confidence": 40})

    (kept,) = merge_findings([unknown, unsure])

    assert kept.confidence == 40


def make_reported_finding(by: str, message: str, line: int) -> MergedFinding:
    return make_finding(message, line).model_copy(update={"reporters": (by,)})


def test_what_one_worker_says_of_two_lines_or_twice_of_one_are_two_findings() -> None:
    lines = [make_reported_finding("A", "`verify=False` in a request", line) for line in (10, 12)]
    twice = [
        make_reported_finding("A", f"`{name}` imported but unused", 1) for name in ("os", "sys")
    ]

    assert [len(merge_findings(pair)) for pair in (lines, twice)] == [2, 2]


def test_what_another_worker_says_joins_the_finding_on_its_own_line() -> None:
    ours = [make_reported_finding("A", "`verify=False` in a request", line) for line in (10, 12)]
    theirs = make_reported_finding("B", "The request has `verify=False`", 12)

    kept = merge_findings([*ours, theirs])

    assert [(each.line, each.reporters) for each in kept] == [(10, ("A",)), (12, ("A", "B"))]
