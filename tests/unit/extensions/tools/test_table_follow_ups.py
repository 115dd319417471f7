"""A question that needs the one before it: with "it" or "there", or one that names a change."""

import pytest

from tests.unit.extensions.tools.test_table_questions import analyze, ask

HALLS = (
    "hall,town,seats,rent_eur,opened\n"
    "Old Mill,Ayr,120,300,2019-05-02\nCorn Store,Ayr,80,180,2021-03-11\n"
    "Lido,Troon,240,520,2018-07-20\nPavilion,Troon,60,150,2022-01-15\n"
)
BOOKINGS = "town,guests,month\nAyr,90,May\nTroon,200,May\nAyr,70,June\nTroon,150,June\n"


def follow(question: str, after: str) -> str:
    found = analyze({"halls.csv": HALLS}, question=question, after=after)
    assert found["is_complete"], found["gaps"]
    return str(found["summary"].partition("\n")[0])


@pytest.mark.parametrize(
    ("after", "question", "figure"),
    [
        ("Which hall has the most seats?", "And what is its rent?", "**520 EUR**"),
        ("Which hall has the most seats?", "When was it opened?", "**2018-07-20**"),
        ("How many halls are in Ayr?", "How many seats do they have in total?", "**200**"),
        ("Which halls have more than 100 seats?", "What is their total rent?", "**820 EUR**"),
        ("Which halls are not in Ayr?", "What is the average rent there?", "**335 EUR**"),
    ],
)
def test_words_such_as_it_mean_the_rows_of_the_question_before(after, question, figure):
    assert figure in follow(question, after)


@pytest.mark.parametrize(
    ("after", "question", "figure"),
    [
        ("How many seats are there in Ayr in total?", "And in Troon?", "**300**"),
        ("How many seats are there in Ayr in total?", "What about Troon?", "**300**"),
        ("Wie viele seats gibt es insgesamt in Ayr?", "Und in Troon?", "**300**"),
        ("How many seats are there in Ayr in total?", "And the total rent?", "**480 EUR**"),
        ("How many seats are in Ayr in total? And in Troon?", "What is their rent?", "150"),
    ],
)
def test_a_fragment_changes_what_it_names_of_the_question_before(after, question, figure):
    found = analyze({"halls.csv": HALLS}, question=question, after=after)

    assert figure in found["summary"]


@pytest.mark.parametrize(
    ("after", "question", "figure"),
    [
        ("Sum of takings in October 2025", "And in November?", "**50**"),
        ("Sum of takings in October 2025", "And in November 2024?", "**7**"),
        ("Sum of takings in October 2025", "And on 4 October?", "**20**"),
        ("Sum of takings in 2025", "And in October?", "**30**"),
        ("Sum of takings in October 2025", "And in 2024?", "**107**"),
    ],
)
def test_a_month_of_a_follow_up_is_of_the_year_before_unless_it_names_one(after, question, figure):
    shows = (
        "day,takings\n2024-10-04,100\n2024-11-01,7\n2025-10-03,10\n2025-10-04,20\n2025-11-01,50\n"
    )

    found = analyze({"shows.csv": shows}, question=question, after=after)

    assert found["is_complete"] and figure in found["summary"], found


def test_a_month_that_is_nearer_in_the_next_year_asks_for_the_year():
    shows = "day,takings\n2024-01-04,100\n2024-12-01,7\n2025-01-03,10\n"
    question, after = "And in January?", "Sum of takings in December 2024"

    found = analyze({"shows.csv": shows}, question=question, after=after)

    assert found["gaps"] == ["in January is in several years; name one"]


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("And how much rent was that?", "**480 EUR**"),
        ("And what is the total rent?", "**480 EUR**"),
        ("And only in Troon?", "**300**"),
        ("And which hall has the highest rent?", "Old Mill"),
        ("And how many seats in total?", "**500**"),
        ("What is the total rent?", "**1,150 EUR**"),
    ],
)
def test_a_question_that_begins_with_and_is_of_the_same_rows_unless_it_names_others(
    question, figure
):
    found = analyze({"halls.csv": HALLS}, question=question, after="How many seats are in Ayr?")

    assert figure in found["summary"], found


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("How many of them are in Ayr?", "**1**"),
        ("What is the total rent of them?", "**450 EUR**"),
    ],
)
def test_them_are_the_rows_with_a_state(question, figure):
    closed = (
        HALLS.replace("opened", "closed since")
        .replace(",2018-07-20", ",")
        .replace(",2021-03-11", ",")
    )

    found = analyze(
        {"halls.csv": closed}, question=question, after="Which halls are closed and since when?"
    )

    assert figure in found["summary"], found


def test_the_questions_before_are_not_answered_again():
    found = analyze(
        {"halls.csv": HALLS}, question="What is its rent?", after="Which hall has the most seats?"
    )

    assert "Highest seats" not in found["summary"] and len(found["rows"]) == 1


def test_a_fragment_in_one_request_is_a_question_of_its_own():
    summary = ask("Total crossings of Oban? And of Mallaig?")["summary"]

    assert "harbour = Oban)" in summary and "harbour = Mallaig)" in summary


def test_there_is_the_place_that_ranks_first_in_another_table():
    tables = {"halls.csv": HALLS, "bookings.csv": BOOKINGS}
    asked = "Which town has the most guests? How many seats are there in total?"
    pointed = "Which town has the most guests? What is the average rent there?"

    assert "**335 EUR**" in analyze(tables, question=pointed)["summary"]
    assert "**500**" in analyze(tables, question=asked)["summary"]


@pytest.mark.parametrize(
    ("after", "question"),
    [
        ("Who pays for the lights?", "And for the rent in Ayr?"),
        ("Who pays for the lights?", "What is their total rent?"),
        ("What was the rent in May 2019?", "And in June?"),
        ("How many seats are in Ayr in total?", "And in Girvan?"),
    ],
)
def test_what_a_question_before_leaves_unclear_is_a_gap(after, question):
    found = analyze({"halls.csv": HALLS}, question=question, after=after)

    assert not found["is_complete"]
