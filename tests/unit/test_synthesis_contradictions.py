"""Which claims are taken to contradict each other."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nodes.schemas.replies import ClaimVerdict
from nodes.synthesis.contradictions import (
    MAX_PAIRS,
    count_undecided,
    find_contradicting_pairs,
    find_named_pairs,
    record_verdicts,
)
from state import Claim, Contradiction, Report


def make_report(task: str, *texts: str) -> Report:
    return Report(task=task, claims=tuple(Claim(text=text, source=f"{task}.md") for text in texts))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("AWS revenue in 2024 was $107.6 billion.", "The revenue of AWS in 2024: 96 bn dollars."),
        ("Market share of AWS is 31 %", "AWS's market share is 29%"),
        ("Part A costs 42 euros.", "Part A costs 43 euros."),
        ("The service has 1,200 users in Q3", "In Q3 the service has 900 users."),
        ("Glucose was 99 mg/dL on 2024-01-15", "Glucose on 2024-01-15 was 104 mg/dL"),
        ("Glucose was 99 mg/dL on 2024-01-15", "Glucose in 2024 was 104 mg/dL"),
        ("port: Sines; cranes: 9; year: 2024", "port: Sines; cranes: 11; year: 2024"),
        ("port: Sines; teu 2023: 41; teu 2024: 47", "port: Sines; teu 2023: 44; teu 2024: 47"),
        ("Cranes in the port of Sines: 9.", "port: Sines; cranes: 11"),
    ],
)
def test_two_figures_for_one_subject_are_a_candidate(first: str, second: str) -> None:
    assert len(find_contradicting_pairs([make_report("A", first), make_report("B", second)])) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("AWS revenue in 2024 was $107.6 billion.", "The revenue of AWS in 2024 was 108 bn USD."),
        ("AWS revenue in 2024 was $107.6 billion.", "AWS revenue in 2024: 107,556 million USD"),
        ("AWS revenue in 2024 was $107.6 billion.", "AWS revenue in 2023 was $90.8 billion."),
        ("AWS revenue in 2024 was $107.6 billion.", "Azure revenue in 2024 was $75 billion."),
        ("AWS revenue grew 19 % in 2024.", "AWS revenue in 2024 was $107.6 billion."),
        ("Part A costs 42 euros.", "Part B costs 43 euros."),
        ("Growth is about 20 %", "Growth is 19.2 %"),
        ("531 requests, 34 of them errors (6.4 %)", "errors: 34 in 233 requests (14.6 %)"),
        ("It is cheap.", "It is dear."),
        ("Termination: clause 4.2(a) of the lease", "Termination: clause 16 of the lease"),
        ("Glucose was 99 mg/dL on 2024-01-15", "Glucose was 104 mg/dL on 2024-02-16"),
        ("port: Sines; teu: 41; year: 2023", "port: Sines; teu: 47; year: 2024"),
        ("port: Sines; teu 2023: 41; teu 2024: 47", "port: Sines; teu 2025: 52"),
        ("port: Sines; teu 2023: 41; growth: 3", "port: Sines; teu per crane: 5"),
        ("port: Sines; teu 2023: 41; growth: 3", "port: Sines; sum of teu: 88"),
        ("port: Sines; teu 2023: 41; growth: 3", "port: Sines; teu: 88"),
        ("port: Sines; cranes: 9", "The port of Sines.\nCranes: 11, of which 2 are old."),
    ],
    ids=[
        *("rounded", "magnitude", "period", "firm", "measure", "part", "roughly", "part_of"),
        "no_figure",
        *("reference", "day", "row_year", "column_year", "ratio", "sum", "all_years", "passage"),
    ],
)
def test_other_subjects_and_roundings_are_no_candidates(first: str, second: str) -> None:
    assert find_contradicting_pairs([make_report("A", first), make_report("B", second)]) == ()


def test_one_report_from_one_source_is_not_held_against_itself() -> None:
    texts = ("Part A costs 42 euros.", "Part A costs 43 euros.")

    assert find_contradicting_pairs([make_report("A", *texts)]) == ()


def test_two_places_in_one_document_are_one_source_to_one_report() -> None:
    texts = {"a": "Part A costs 42 euros.", "b": "Part A costs 43 euros."}
    claims = [Claim(text=text, source=f"list.json#{place}") for place, text in texts.items()]

    assert find_contradicting_pairs([Report(task="A", claims=tuple(claims))]) == ()
    assert find_contradicting_pairs([Report(task=c.source[-1], claims=(c,)) for c in claims])


@given(st.lists(st.text(max_size=60), max_size=6))
@example(["\U00010d40 and 3"])
def test_any_text_can_be_compared(texts: list[str]) -> None:
    reports = [make_report(str(number), text) for number, text in enumerate(texts) if text]

    assert all(pair.first.text != pair.second.text for pair in find_contradicting_pairs(reports))


def test_a_pair_without_a_ruling_cannot_be_decided() -> None:
    pairs = find_contradicting_pairs(
        [make_report("A", "Part A costs 42 euros."), make_report("B", "Part A costs 5 euros")]
    )

    (silent,) = record_verdicts(pairs, {}, "the judge failed")
    (neither,) = record_verdicts(
        pairs, {1: ClaimVerdict(pair=1, holds="neither", reason="both are old")}, ""
    )

    assert silent.verdict == "cannot decide: the judge failed"
    assert neither.verdict == "neither holds: both are old"
    assert (count_undecided([silent]), count_undecided([neither])) == (1, 0)


def name_conflict(*texts: str, verdict: str = "") -> Contradiction:
    claims = tuple(Claim(text=text) for text in texts)
    return Contradiction(subject="cause", claims=claims, verdict=verdict)


CAUSES = [make_report("A", "It is a bug."), make_report("B", "It is a setting.", "It is a leak.")]


def test_pairs_that_the_synthesizer_names_have_the_claims_and_tasks_of_the_reports() -> None:
    named = [name_conflict("it is  a bug", "It is a setting.", "It is a leak.")]

    pairs = find_named_pairs((), named, CAUSES)

    assert [pair.tasks for pair in pairs] == [("A", "B"), ("A", "B")]
    assert [pair.second.text for pair in pairs] == ["It is a setting.", "It is a leak."]
    assert {pair.name_subject() for pair in pairs} == {"cause"}


def test_a_pair_that_is_known_invented_or_named_twice_is_left_out() -> None:
    known = [name_conflict("It is a bug.", "It is a leak.")]
    twice = name_conflict("It is a bug.", "It is a setting.")
    invented = name_conflict("It is a bug.", "It is a fire.")

    pairs = find_named_pairs(known, [*known, twice, twice, invented], CAUSES)

    assert [pair.second.text for pair in pairs] == ["It is a setting."]


def test_the_pairs_for_one_call_are_limited() -> None:
    reports = [make_report("A", "It is a bug."), make_report("B", *map(str, range(100)))]
    named = [name_conflict("It is a bug.", str(number)) for number in range(100)]

    assert len(find_named_pairs((), named, reports)) == MAX_PAIRS


def test_the_synthesizers_verdict_stays_where_the_judge_has_no_ruling() -> None:
    named = [name_conflict("It is a bug.", "It is a leak.", verdict="the log shows a bug")]

    (found,) = record_verdicts(find_named_pairs((), named, CAUSES), {}, "no judge was asked")

    assert found.verdict == "the log shows a bug"
