"""A word that a table lacks is read as the one column that means much the same, and is named."""

from typing import Any

import pytest

from extensions.tools.sql.table_analysis import analyze_table
from nodes.text.similarity import is_meaning_available

STAFF = "name,department,wage\nAnna,Sales,3200\nBo,Sales,2900\nCem,Lab,4100\n"
HARBOUR = "ship,harbour,length_m\nAlba,Oban,60\nBrae,Oban,82\nCana,Mallaig,77\n"

needs_meaning = pytest.mark.skipif(not is_meaning_available(), reason="needs the extra `meaning`")


def ask(question: str, table: str) -> dict[str, Any]:
    return analyze_table("none", "", {"table.csv": table}, 2.0, "", {"question": question})


@needs_meaning
@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the average salary in Sales?", [[3050.0]]),
        ("Who has the highest salary?", [["Cem", 4100], ["Anna", 3200], ["Bo", 2900]]),
    ],
)
def test_a_word_for_a_column_is_computed_and_its_reading_is_a_gap(
    question: str, rows: list[list[Any]]
) -> None:
    answer = ask(question, STAFF)

    assert answer["rows"] == rows
    assert answer["gaps"] == ["“salary” was taken to mean wage"]
    assert not answer["is_complete"]
    assert "“salary” was taken to mean wage" in answer["summary"]


@pytest.mark.parametrize("word", ["banana", "Salary", "colour"])
def test_a_word_near_to_no_column_or_a_name_is_taken_for_none(word: str) -> None:
    answer = ask(f"What is the average {word} in Sales?", STAFF)

    assert not answer.get("rows")
    assert f"“{word}”" in answer["gaps"][0]


def test_a_question_with_the_words_of_the_table_is_not_read_in_another_way() -> None:
    answer = ask("What is the average wage in Sales?", STAFF)

    assert answer["is_complete"]
    assert answer["rows"] == [[3050.0]]


@pytest.mark.parametrize(
    "question", ["Which harbour used the most cranes?", "Which pier has the most banana loads?"]
)
def test_rows_are_not_ranked_by_their_number_for_things_that_the_table_lacks(question: str) -> None:
    answer = ask(question, HARBOUR)

    assert not answer.get("rows")
    assert answer["gaps"]


def test_a_row_that_its_name_tells_apart_is_not_named_by_a_date_too() -> None:
    hired = "name,wage,hired\nAnna,3200,2019-04-01\nBo,2900,2020-01-15\n"

    assert ask("Who has the highest wage?", hired)["rows"] == [["Anna", 3200], ["Bo", 2900]]
