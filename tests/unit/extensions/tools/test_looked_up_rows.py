"""A question about one row shows the columns that it names, and says where a cell is empty."""

from typing import Any

import pytest

from tests.unit.extensions.tools.test_table_questions import answer_words

OBJECTS = """\
inventory_no,title,painter,acquired,curator,value_eur
M-101,Harbour at Dusk,Elise Varga,2003-05-14,Tomas Lind,42000
M-102,Portrait of a Miller,Ole Brandt,1988-11-02,,18500
M-103,Three Herons,Jonas Feld,2015-02-20,Amina Roth,27300
M-104,Blue Kettle,Elise Varga,2011-09-09,Tomas Lind,9900
"""
BOATS = "boat,skipper,length_m\nGannet,Jo Reid,12\nPetrel,Al Munro,9\n"


def ask(question: str, table: str = OBJECTS) -> dict[str, Any]:
    return answer_words(question, "objects.csv", table)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Who curated Three Herons?", "Amina Roth"),
        ("Who is the painter of Blue Kettle?", "Elise Varga"),
        ("When was Blue Kettle acquired?", "2011-09-09"),
    ],
)
def test_a_row_shows_the_column_that_is_asked_for_and_no_other(question: str, value: str) -> None:
    answer = ask(question)

    assert [str(row[-1]) for row in answer["rows"]] == [value]
    assert answer["gaps"] == []


def test_a_cell_that_is_asked_for_and_empty_is_a_gap() -> None:
    answer = ask("Who curated Portrait of a Miller?")

    assert not answer.get("rows")
    assert answer["gaps"] == ["curator: empty where title = Portrait of a Miller"]


@pytest.mark.parametrize(
    ("question", "table"),
    [("When did Jonas Feld die?", OBJECTS), ("When did Jo Reid have Gannet?", BOATS)],
)
def test_a_table_that_does_not_say_when_answers_no_question_of_when(
    question: str, table: str
) -> None:
    answer = ask(question, table)

    assert not answer.get("rows")
    assert answer["gaps"]


def test_different_things_are_counted_once_each() -> None:
    assert ask("How many different painters are there?")["rows"] == [[3]]


def test_rows_without_a_value_are_found() -> None:
    answer = ask("Which objects have no curator?")

    assert [row[0] for row in answer["rows"]] == ["Portrait of a Miller"]
    assert "curator is empty" in answer["summary"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which object was acquired first?", ["Portrait of a Miller", "1988-11-02"]),
        ("Which title is the latest?", ["Three Herons", "2015-02-20"]),
    ],
)
def test_rows_are_ranked_by_their_only_time(question: str, first: list[str]) -> None:
    answer = ask(question)

    assert [str(cell) for cell in answer["rows"][0]] == first
    assert answer["gaps"] == []


TICKETS = "kind,price_eur,sold_2024\nAdult,14.5,18200\nChild,6,7400\nFamily,32,2200\n"


def test_a_word_that_means_much_the_same_as_one_cell_is_read_as_it_and_said() -> None:
    answer = ask("How many kids were sold in 2024?", TICKETS)

    assert answer["rows"] == [[7400]]
    assert answer["gaps"][0] == "“kids” was taken to mean Child"


def test_a_number_of_something_unknown_is_no_count() -> None:
    answer = ask("What is the phone number of Jonas Feld?")

    assert not answer.get("rows")
    assert "phone" in answer["gaps"][0]


DRINKS = "country,beer_servings,wine_servings\nFrance,127,370\nItaly*,85,237\nOman,0,0\n"


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Compare France and Italy in beer and wine servings.", [["France", 127, 370]]),
        ("Which countries have zero wine servings?", [["Oman"]]),
        ("How many countries had no beer servings?", [[1]]),
        ("How many beer servings does Italy have?", [[85]]),
    ],
)
def test_two_columns_of_one_noun_no_amount_and_names_with_a_mark_are_read(
    question: str, rows: list[list[Any]]
) -> None:
    answer = ask(question, DRINKS)

    assert answer["rows"][: len(rows)] == rows
    assert answer["gaps"] == []


HARVESTS = """\
harvest_id,date,extracted_by,honey_type,weight_kg
E07,2026-05-21,Ines Valdez,linden,12.5
E08,2026-05-29,Greta Holm,acacia,9.1
E09,2026-06-03,Greta Holm,linden,17.8
"""


def test_two_things_that_are_asked_of_a_row_are_both_shown() -> None:
    answer = ask("Who extracted harvest E07, and on which date?", HARVESTS)

    assert [str(cell) for cell in answer["rows"][0][-2:]] == ["Ines Valdez", "2026-05-21"]
    assert answer["gaps"] == []


def test_a_part_that_points_back_is_asked_of_the_row_that_ranks_first() -> None:
    answer = ask("Which harvest has the lowest weight and when was it extracted?", HARVESTS)

    assert answer["is_complete"]
    assert [str(cell) for cell in answer["rows"][-1]][-1] == "2026-05-29"


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("How much honey did Greta Holm extract?", "how much is asked for"),
        ("Who extracted the most honey?", "an amount may be meant"),
    ],
)
def test_a_part_that_is_not_computed_and_an_amount_that_is_not_named_are_gaps(
    question: str, gap: str
) -> None:
    answer = ask(question, HARVESTS)

    assert any(gap in each for each in answer["gaps"])


def test_the_plural_of_a_cell_of_two_words_is_the_cell() -> None:
    bells = "name,kind\nAurelia,church bell\nDora,school bell\nFlora,church bell\n"

    answer = ask("How many church bells are there?", bells)

    assert (answer["rows"], answer["gaps"]) == ([[2]], [])
