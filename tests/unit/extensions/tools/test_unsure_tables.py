"""What is not sure of a question is a gap, and where the figure would be of other things, none."""

from typing import Any

import pytest

from extensions.tools.sql.table_analysis import analyze_table

LOANS = """\
loan_id,day,reader_id,from_branch,to_branch,pages,fine_eur,wait_hours
L1,2024-01-03,R1,Oak,Elm,300,1.5,4
L2,2024-02-04,R2,Elm,Oak,200,0,9
L3,2024-04-05,R1,Oak,Ash,100,2.5,0
L4,2024-05-06,R3,Ash,Elm,150,4,2
"""
READERS = "reader_id,name,kind,branch\nR1,Ada,Student,Oak\nR2,Bo,Pupil,Elm\nR3,Cy,Student,Ash\n"
COSTS = "month,paper_kg,cost_eur\n2024-01,10,50\n2024-02,30,40\n2024-03,20,90\n"
TABLES = {"loans.csv": LOANS, "readers.csv": READERS}


def ask(question: str, tables: dict[str, str] | None = None) -> dict[str, Any]:
    return analyze_table("none", "", tables or TABLES, 2.0, "", {"question": question})


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("Total pages in Oak", "'Oak' is in from_branch and to_branch; name one"),
        ("Average pages by kind", "“kind” is in readers.csv; no tables are joined"),
        ("Total pages of clay tiles", "nothing in the table fits “clay”, “tiles”"),
    ],
)
def test_no_figure_is_shown_of_other_rows_than_those_asked_for(question: str, gap: str) -> None:
    answer = ask(question)

    assert not answer.get("rows")
    assert any(each.startswith(gap) for each in answer["gaps"])


@pytest.mark.parametrize(
    ("question", "pages"), [("Total pages from Oak", 400), ("Total pages to Elm", 450)]
)
def test_a_cell_of_two_columns_belongs_to_the_one_that_is_named_beside_it(
    question: str, pages: int
) -> None:
    answer = ask(question)

    assert answer["rows"] == [[pages]]
    assert answer["is_complete"]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many complaints are there per reader?", [["R1", 2], ["R2", 1], ["R3", 1]]),
        ("How many waits were there for R1?", [[4]]),
    ],
)
def test_a_count_of_what_no_table_names_is_not_complete(question: str, rows: list[Any]) -> None:
    answer = ask(question, {"loans.csv": LOANS})

    assert answer["rows"] == rows
    assert not answer["is_complete"]


@pytest.mark.parametrize("question", ["Loans per reader", "How many loans did each reader make?"])
def test_what_the_file_is_named_after_is_counted_there(question: str) -> None:
    answer = ask(question)

    assert answer["rows"] == [["R1", 2], ["R2", 1], ["R3", 1]]
    assert answer["is_complete"]


def test_of_two_columns_in_one_noun_the_last_is_what_is_asked_for() -> None:
    answer = ask("Which month had the highest paper cost?", {"costs.csv": COSTS})

    assert answer["rows"][0] == ["2024-03", 90]
    assert answer["gaps"] == ["only cost_eur was computed, not paper_kg"]


def test_quarters_of_a_change_are_written_as_quarters() -> None:
    answer = ask("Growth of pages from Q1 to Q2 2024", {"loans.csv": LOANS})

    assert "from 2024-Q1 to 2024-Q2" in answer["summary"]


def test_a_year_of_months_is_shown_whole() -> None:
    months = "month,pages\n" + "".join(f"2024-{n:02d},{n}\n" for n in range(1, 13))

    answer = ask("Pages by month", {"pages.csv": months})

    assert "2024-12" in answer["summary"]
    assert "more" not in answer["summary"]


def test_a_year_that_is_said_once_is_that_of_both_quarters() -> None:
    later = LOANS + "L5,2023-04-06,R3,Ash,Elm,1000,4,2\n"

    question = "Compare the pages of the second quarter with the first quarter of 2024"
    answer = ask(question, {"loans.csv": later})

    assert answer["rows"] == [["2024-Q1", 500], ["2024-Q2", 250]]


VISITS = """\
visit_id,day,guide_id,guide,kind,fee_eur
V1,2024-01-03,G1,Ada Long,Tour,10
V2,2024-01-09,G2,Bo Short,Talk,20
V3,2024-02-05,G1,Ada Long,Tour,40
"""
GUIDES = "guide_id,guide,wage_eur\nG1,Ada Long,20\nG2,Bo Short,25\nG3,Cy Broad,22\n"


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Compare the total fees of Tour and Talk", [["Talk", 20], ["Tour", 50]]),
        ("What is the average fee of Tour and Talk?", [["Talk", 20], ["Tour", 25]]),
        ("What is the total fee of Tour and Talk?", [[70]]),
        ("In which month were the most visits?", [["2024-01", 2], ["2024-02", 1]]),
    ],
)
def test_two_names_that_are_compared_have_a_row_each_and_the_most_rows_are_counted(
    question: str, rows: list[Any]
) -> None:
    answer = ask(question, {"visits.csv": VISITS})

    assert sorted(answer["rows"]) == rows
    assert answer["is_complete"]


def test_rows_that_a_code_tells_apart_are_named_in_words_too() -> None:
    answer = ask("Who has the highest wage?", {"guides.csv": GUIDES})

    assert answer["rows"][0] == ["Bo Short", "G2", 25]


FLEET = """\
route,month,cars,trips_planned,trips_cancelled
A,2025-01,10,20,1
A,2025-02,30,20,3
B,2025-01,5,10,1
"""


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Total cars and trips cancelled of each route", [["A", 40, 4], ["B", 5, 1]]),
        (
            "What share of the planned trips was cancelled on each route?",
            [["A", 10.0], ["B", 10.0]],
        ),
    ],
)
def test_two_columns_that_are_named_are_both_computed_without_a_doubt(
    question: str, rows: list[Any]
) -> None:
    answer = ask(question, {"fleet.csv": FLEET})

    assert answer["rows"] == rows
    assert answer["is_complete"], answer["gaps"]


def test_a_listed_row_is_shown_though_its_numbers_are_empty() -> None:
    objects = "name,state,price_eur\nOrgan,poor,400\nBench,poor,\nVase,good,20\n"

    answer = ask("Which objects are in poor state?", {"objects.csv": objects})

    assert answer["rows"] == [["Organ", 400], ["Bench", None]]
