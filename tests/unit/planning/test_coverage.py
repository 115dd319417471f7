import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.planning.coverage import list_uncovered, note_uncovered
from nodes.text.request_parts import list_parts
from state import Plan, Task
from tests.benchmarks.coverage.__main__ import (
    Row,
    drop_part,
    get_team,
    read_complete,
    read_rows,
)
from tests.teams import make_team

REQUEST = (
    "Compare the rents of the shops, count the parking spaces, and draft a letter to the owner."
)
RENTS = "Set the rents of the shops side by side."
PARKING = "Count the parking spaces of each shop."
LETTER = "Write the owner a letter."
TEAM = make_team()


def make_plan(*descriptions: str, covers: tuple[str, ...] = ()) -> Plan:
    """Make a plan of which the first task quotes the spans."""
    tasks = (
        Task(id=f"t{n}", worker="researcher", description=words, covers=() if n > 1 else covers)
        for n, words in enumerate(descriptions, 1)
    )
    return Plan(goal="g", tasks=tuple(tasks))


def find_uncovered(
    *descriptions: str, request: str = REQUEST, **fields: tuple[str, ...]
) -> list[str]:
    return list_uncovered(make_plan(*descriptions, **fields), request, TEAM)


def test_a_part_that_is_in_no_task_is_named_in_the_words_of_the_request() -> None:
    assert find_uncovered(RENTS, PARKING) == ["draft a letter to the owner"]
    assert find_uncovered(RENTS, LETTER) == ["count the parking spaces"]
    assert find_uncovered(RENTS, PARKING, LETTER) == []


def test_what_a_task_quotes_is_covered_whatever_its_description_says() -> None:
    spans = ("Compare the rents of\n the SHOPS", "count the parking spaces")

    assert find_uncovered("Do the sums.", covers=spans) == ["draft a letter to the owner"]
    assert find_uncovered("Do the sums.", covers=(REQUEST,)) == []


def test_words_of_a_task_cover_what_it_forgot_to_quote() -> None:
    assert find_uncovered(RENTS, PARKING, LETTER, covers=("Compare the rents of the shops",)) == []


@pytest.mark.parametrize(
    "addition",
    [
        *("Hello team, ", "Please be brief. ", " In no more than 200 words."),
        *(" With sources, on one page.", " Thanks a lot!", " List the findings by severity."),
        *(" Say which of them is best.", " The table is in rents_2025.csv."),
    ],
)
def test_politeness_forms_limits_and_files_are_no_parts(addition: str) -> None:
    is_before = addition.endswith(" ")
    request = f"{addition}{REQUEST}" if is_before else f"{REQUEST}{addition}"

    assert find_uncovered(RENTS, PARKING, LETTER, request=request) == []


def test_tasks_that_could_be_about_anything_or_are_in_another_language_are_not_judged() -> None:
    assert find_uncovered("Do 1.") == []
    german = "Die Mieten der Läden gegenüberstellen und die Parkplätze der Läden zählen."
    assert find_uncovered(german) == []


def test_a_question_divided_into_steps_in_other_words_is_covered() -> None:
    steps = ("Isolate the animals.", "Introduce them with caution.")

    assert find_uncovered(*steps, request="How do I train a chinchilla?") == []


def test_a_human_may_waive_a_part() -> None:
    plan = make_plan(RENTS, PARKING)

    assert note_uncovered(plan, REQUEST, TEAM, waived="no letter, please") is plan
    assert note_uncovered(plan, REQUEST, TEAM).untaken == ("draft a letter to the owner",)
    assert note_uncovered(note_uncovered(plan, REQUEST, TEAM), REQUEST, TEAM).untaken == (
        "draft a letter to the owner",
    )


@given(st.text(max_size=300))
def test_a_plan_that_quotes_the_whole_request_covers_it(request: str) -> None:
    plan = make_plan("Count the parking spaces.", covers=(request,) if request else ())

    assert not request or list_uncovered(plan, request, TEAM) == []


@given(st.lists(st.sampled_from([*REQUEST.split(), "\n", ". ", ", and", "und", "a"]), max_size=60))
def test_each_part_quoted_alone_covers_the_request(words: list[str]) -> None:
    request = " ".join(words)
    parts = tuple(list_parts(request, lambda _: ["researcher"]))
    plan = make_plan("Count the parking spaces.", covers=tuple(filter(None, parts)))

    assert not any(parts) or list_uncovered(plan, request, TEAM) == []


def test_a_long_request_and_many_spans_take_no_time() -> None:
    request = "Compare the rents, " * 60_000
    plan = make_plan(*[RENTS] * 50, covers=("Compare the rents",) * 50)

    assert list_uncovered(plan, request, TEAM) == []


@pytest.mark.needs("teams")
@pytest.mark.parametrize("has_spans", [False, True])
@pytest.mark.parametrize("row", read_rows("dropped_parts"), ids=lambda row: row["request"][:30])
def test_the_last_part_of_each_request_is_missed_when_it_is_dropped(
    row: Row, has_spans: bool
) -> None:
    plan = drop_part(row, len(row["parts"]) - 1, has_spans=has_spans)
    span = row["parts"][-1][0]

    found = list_uncovered(plan, row["request"], get_team(row["team"]))

    assert any(part in span or span in part for part in found), found


@pytest.mark.needs("teams")
def test_at_most_two_of_sixty_complete_plans_are_doubted() -> None:
    plans = [read_complete(row) for row in read_rows("complete_plans")]

    doubted = [request for request, plan, team in plans if list_uncovered(plan, request, team)]

    assert len(plans) == 60 and len(doubted) <= 2, doubted
