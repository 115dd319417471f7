"""Findings of several reports become one ranked list."""

import random

from hypothesis import given
from hypothesis import strategies as st

from nodes.synthesis.findings import gather, merged
from state import Finding, MergedFinding, Report, Severity

WORDS = ("sql", "injection", "query", "unused", "import", "loop", "slow", "the", "of")

findings = st.builds(
    MergedFinding,
    severity=st.sampled_from(("critical", "high", "medium", "low", "info")),
    message=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    file=st.sampled_from(("a.py", "./a.py", "b.py", "")),
    line=st.none() | st.integers(1, 20),
    confidence=st.integers(0, 100),
    reporters=st.sampled_from((("A",), ("B",), ("A", "C"))),
)


@given(st.lists(findings, max_size=12))
def test_merging_again_changes_nothing(found: list[MergedFinding]) -> None:
    once = merged(found)

    assert merged(once) == once


@given(st.lists(findings, max_size=12), st.randoms())
def test_the_order_of_findings_does_not_matter(
    found: list[MergedFinding], dice: random.Random
) -> None:
    shuffled = list(found)
    dice.shuffle(shuffled)

    assert merged(shuffled) == merged(found)


@given(st.lists(findings, max_size=12))
def test_nothing_reported_is_lost(found: list[MergedFinding]) -> None:
    kept = merged(found)

    assert {name for each in kept for name in each.reporters} == {
        name for each in found for name in each.reporters
    }
    assert max((each.confidence for each in kept), default=0) == max(
        (each.confidence for each in found), default=0
    )


def finding(message: str, line: int | None = 1, severity: Severity = "high") -> MergedFinding:
    return MergedFinding(severity=severity, message=message, file="a.py", line=line)


def test_other_words_for_one_matter_at_one_place_are_one_finding() -> None:
    ours = finding("SQL injection through string formatting in the query", 40)
    theirs = finding("User input is concatenated into a SQL query: injection", 42, "critical")

    (kept,) = merged([ours, theirs])

    assert kept.severity == "critical"


def test_another_place_or_another_matter_is_another_finding() -> None:
    far = [finding("SQL injection in the query", 40), finding("SQL injection in the query", 44)]
    other = [finding("SQL injection in the query"), finding("Unused import of os")]
    nowhere = [finding("SQL injection", None), finding("SQL injection", 3)]

    assert [len(merged(pair)) for pair in (far, other, nowhere)] == [2, 2, 2]


def test_a_finding_two_workers_doubt_is_kept_when_one_is_sure() -> None:
    sure = Finding(severity="low", message="Unused import os", file="a.py", confidence=90)
    unsure = sure.model_copy(update={"confidence": 40})
    reports = [Report(task="A", findings=(unsure,)), Report(task="B", findings=(sure,))]

    assert [each.reporters for each in gather(reports, min_confidence=80)] == [("A", "B")]
    assert gather(reports[:1], min_confidence=80) == ()
