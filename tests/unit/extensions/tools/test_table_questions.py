"""A question in words is computed on a table's own columns and cells, or its gaps say what is not.

The tables are the files of `asked_tables`.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.tools.sql.child_program import Statements
from extensions.tools.sql.table_analysis import TableSession, analyze_table
from extensions.tools.sql.table_arguments import Question
from extensions.tools.sql.table_columns import AnalysedTable
from extensions.tools.sql.table_question import answer_question
from nodes.text.similarity import is_meaning_available

TABLES = {
    path.name: path.read_text() for path in (Path(__file__).parent / "asked_tables").iterdir()
}

needs_meaning = pytest.mark.skipif(not is_meaning_available(), reason="needs the extra `meaning`")


def analyze(materials: dict[str, str], table: str = "", **asked: Any) -> dict[str, Any]:
    return analyze_table("none", "", materials, 2.0, table, asked)


@cache
def open_table(name: str, text: str) -> tuple[Statements, list[AnalysedTable], list[str]]:
    """Load a table as `analyze_table` does, but once for all questions about it."""
    statements = Statements("none", "", {name: text}, 2.0, ExitStack())
    session = TableSession(statements, "none")
    return statements, session.sample_readable(session.list_tables()), session.notes


def answer_words(question: str, name: str, text: str) -> dict[str, Any]:
    statements, tables, notes = open_table(name, text)
    session = TableSession(statements, "none")
    session.notes += notes
    return answer_question(tables, Question(question=question), session.query, session.notes)


def ask(question: str, *tables: str, **arguments: Any) -> dict[str, Any]:
    materials = {name: TABLES[name] for name in tables or ("ferries.csv",)}
    if arguments or len(materials) > 1:
        return analyze(materials, question=question, **arguments)
    return answer_words(question, *next(iter(materials.items())))


def list_cases(cases: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    """Return table, question and what is expected of each case."""
    return [(table, *case) for table, questions in cases.items() for case in questions.items()]


COMPUTED: dict[str, dict[str, Any]] = {
    "ferries.csv": {
        "How many crossings did Oban have in December 2024?": [[350]],
        "How many cars were there in total in Q4 2024?": [[28600]],
        "Total crossings from November 2024 to December 2024": [[1130]],
        "Total crossings since 2025": [[490]],
        "Cars per crossing at Oban in January 2025": [[27.0]],
        "Delays per 1,000 crossings in Mallaig in 2025": [[5.263]],
        "Which harbour had the most delays?": [["Oban", 31], ["Mallaig", 12]],
        "How many months are there for Oban?": [[3]],
        "What share of the cars came from Oban?": [[71.18]],
        "How many harbours are there?": [[2]],
        "How many cars were there in 2025, and how many delays did they have?": [[12280], [10]],
        "Average delays not in Oban": [[4.0]],
        "Total cars per harbour and per month in 2025": [
            *(["Mallaig", "2025-01", 4180], ["Oban", "2025-01", 8100])
        ],
        "By how many percent did crossings grow in Mallaig from November 2024 to January 2025?": [
            [200, 190, -10, -5.0]
        ],
    },
    "wells_deep.csv": {
        "How many wells did Elm have in 2022?": [[31]],
        "What was the total of wells in 2023?": [[53]],
    },
    "crew.csv": {
        "How many women are there?": [[2]],
        "What is the average salary of the cooks?": [[2550.0]],
        "Which sailor has the highest salary?": [
            *(["Di Tall", 5200], ["Ada Long", 3000], ["Cy Broad", 2600], ["Bo Short", 2500])
        ],
    },
    "rent_per_room.csv": {"What was the rent per room in Ash in 2021?": [["Ash", 2021, 310]]},
    "firms.csv": {
        "Compare the sales of the top 2 haulage brokers with year-over-year growth": [
            *(["Ash & Co", 80, 100, 20, 25.0], ["Elm Ltd", 50, 40, -10, -20.0]),
            ["Oak AG", 10, 30, 20, 200],
        ],
    },
    "survey.csv": {
        "How many women are there in the north?": [[4]],
        "What percentage of the respondents in the north is female?": [[28.57]],
    },
    "votes.csv": {
        "How many votes did Lee get?": [[70]],
        "Compare Lee with Kim in the north": [["north", 40, 10]],
        "What percentage of total is Kim?": [[41.67]],
    },
    "quarters.csv": {
        "What was gdp in the second quarter of 2001?": [[2001, 2, 12.5]],
        "In which quarter of which year was gdp highest?": [
            *(["2001-Q2", 12.5], ["2001-Q1", 12], ["2000-Q2", 11], ["2000-Q1", 10.5])
        ],
    },
    # A cell of two columns belongs to the one that is named beside it.
    "loans.csv": {
        "Total pages from Oak": [[400]],
        "Total pages to Elm": [[450]],
        "Loans per reader": [["R1", 2], ["R2", 1], ["R3", 1]],
        "How many loans did each reader make?": [["R1", 2], ["R2", 1], ["R3", 1]],
    },
    # Two names that are compared have a row each, and the most rows are counted.
    "visits.csv": {
        "Compare the total fees of Tour and Talk": [["Tour", 50], ["Talk", 20]],
        "What is the average fee of Tour and Talk?": [["Tour", 25], ["Talk", 20]],
        "What is the total fee of Tour and Talk?": [[70]],
        "In which month were the most visits?": [["2024-01", 2], ["2024-02", 1]],
    },
    "fleet.csv": {
        "Total cars and trips cancelled of each route": [["A", 40, 4], ["B", 5, 1]],
        "What share of the planned trips was cancelled on each route?": [["A", 10.0], ["B", 10.0]],
    },
    "staff.csv": {"What is the average wage in Sales?": [[3050.0]]},
}


@pytest.mark.parametrize(("table", "question", "rows"), list_cases(COMPUTED))
def test_the_words_are_computed_on_the_tables_own_columns(table, question, rows):
    found = ask(question, table)

    assert found.get("rows") == rows, found
    assert found["is_complete"], found["gaps"]


UNREAD = {
    "ferries.csv": {
        "Which harbour had the most passengers?": "of the table is called “passengers”",
        "What was the median of delays in Oban?": "“median”",
        "Which harbour had the second most delays?": "“second”",
        "How many crossings on weekends were there in 2025?": "“weekends”",
        "How many delays will there be in 2026?": "no row fits",
        "How many crossings did Oban have?": "several periods",
        "Most delays and lowest cars?": "the highest and the lowest",
        "How many months have more than 10 delays?": "single rows",
        "How many passengers did Oban have?": "“passengers”",
        "Which harbour had the most delays per month?": "only harbour was computed, not month",
        "Total delays of each harbour and of harbour": "what “harbour” belongs to",
        # A part hangs on another one, or denies something.
        "What were the total cars in 2025, and what were the total delays?": "all periods",
        "Which harbour has no delays?": "of single rows",
        # A figure of another reading is not complete.
        "Average number of cars per month": "single rows were averaged, not the sums",
        "Which month had the most cars in Oban and which in Mallaig?": "two things are asked for",
    },
    "wells_deep.csv": {"Which village had the deepest wells in 2022?": "“deepest”"},
    "crew.csv": {
        "What is the sum of the zip?": "codes",
        "How many Danes are cooks?": "“Danes”",
        "How many tall Danes are cooks?": "“Danes”",
        "How many survived?": "“survived”",
        "How many women survived?": "“survived”",
        "What is the profit?": "its columns are name, sex, rank, salary_eur, zip",
    },
    "firms.csv": {
        "How many tourists came to Ash & Co in 2024?": "“tourists”",
        "Which firm hurried most?": "“hurried”",
        "Which firm hurried most in 2024?": "“hurried”",
        "Which continent had the highest sales?": "“continent”",
        "Compare the sales of the top 3 haulage brokers with profit": "“profit”",
    },
    "survey.csv": {
        "How many women said so?": "“said”",
        "What is the share of women in the north?": "in it",
    },
    "votes.csv": {"How many dogs did Lee get in the north and the moon?": "“moon”"},
    "costs.csv": {"Which month had the highest paper cost?": "only cost_eur was computed, not pap"},
}


@pytest.mark.parametrize(("table", "question", "part"), list_cases(UNREAD))
def test_what_cannot_be_read_is_named_and_not_answered_with_the_nearest(table, question, part):
    found = ask(question, table)

    assert not found["is_complete"]
    assert part in "; ".join(found["gaps"])


NOT_SHOWN = {
    "ferries.csv": {
        "How many employees does Oban have?": "no column or cell of the table is called",
        "How many helmets were sold at Oban in 2025?": "no column or cell of the table is called",
        "Total cars at Southport in 2025": "no column or cell of the table is called",
    },
    "loans.csv": {
        "Total pages in Oak": "'Oak' is in from_branch and to_branch; name one",
        "Average pages by kind": "“kind” is in readers.csv; no tables are joined",
        "Total pages of clay tiles": "no column or cell of the table is called “clay”, “tiles”",
    },
    "staff.csv": {
        "What is the average banana in Sales?": "“banana”",
        "What is the average Salary in Sales?": "“Salary”",
        "What is the average colour in Sales?": "“colour”",
    },
    "ships.csv": {
        "Which harbour used the most cranes?": "“cranes”",
        "Which pier has the most banana loads?": "it is asked which one",
    },
}


@pytest.mark.parametrize(("table", "question", "gap"), list_cases(NOT_SHOWN))
def test_no_figure_is_shown_of_other_things_than_those_asked_for(table, question, gap):
    beside = ["readers.csv"] if table == "loans.csv" else []

    found = ask(question, table, *beside)

    assert not found.get("rows") and found["summary"] == ""
    assert gap in found["gaps"][0]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many complaints are there per reader?", [["R1", 2], ["R2", 1], ["R3", 1]]),
        ("How many waits were there for R1?", [[4]]),
    ],
)
def test_a_count_of_what_no_table_names_is_not_complete(question, rows):
    found = ask(question, "loans.csv")

    assert found["rows"] == rows and not found["is_complete"]


def test_two_readings_with_different_answers_are_both_named():
    unclear = ask("Which shop had the highest sales?", "shops.csv")
    clear = ask("Which shop had the most sales?", "shops.csv")

    assert not unclear["is_complete"] and "A or B" in unclear["gaps"][0]
    assert clear["is_complete"] and clear["rows"][0] == ["B", 13]


@pytest.mark.parametrize(
    "question", ["Top 2 months by cars", "Rank the months by cars", "Compare the months by cars"]
)
def test_months_that_are_listed_are_those_of_the_table(question):
    found = ask(question)

    assert found["is_complete"], found["gaps"]
    assert sorted(found["rows"][:2]) == [["2024-11", 16000], ["2024-12", 12600]]


def test_a_year_that_is_said_once_is_that_of_both_quarters():
    later = TABLES["loans.csv"] + "L5,2023-04-06,R3,Ash,Elm,1000,4,2\n"
    question = "Compare the pages of the second quarter with the first quarter of 2024"

    assert analyze({"loans.csv": later}, question=question)["rows"] == [
        *(["2024-Q1", 500], ["2024-Q2", 250])
    ]


@pytest.mark.parametrize(
    ("table", "question", "row"),
    [
        ("guides.csv", "Who has the highest wage?", ["Bo Short", "G2", 25]),
        ("objects.csv", "Which objects are in poor state?", ["Organ", 400]),
        ("costs.csv", "Which month had the highest paper cost?", ["2024-03", 90]),
    ],
)
def test_a_row_is_named_in_words_and_a_listed_one_also_without_its_number(table, question, row):
    assert ask(question, table)["rows"][0] == row


def test_no_filter_of_one_question_counts_for_another() -> None:
    answer = ask("How many crossings did Oban have in 2025? Which harbour had the most delays?")

    assert answer["rows"] == [[300], ["Oban", 31], ["Mallaig", 12]]
    (gap,) = answer["gaps"]
    assert gap.startswith("a figure without a period counts all periods")


@pytest.mark.parametrize(
    "question",
    [
        "Which harbour is the most modern?",
        "Which harbour was closed most recently?",
        "Wie viele Autos kamen nach Oban?",
    ],
)
def test_a_word_that_is_no_noun_is_not_taken_for_the_rows(question: str) -> None:
    answer = ask(question)

    assert not answer["is_complete"]
    assert not any("was taken to mean each row" in gap for gap in answer["gaps"][:1])


@needs_meaning
@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the average salary in Sales?", [[3050.0]]),
        ("Who has the highest salary?", [["Cem", 4100], ["Anna", 3200], ["Bo", 2900]]),
    ],
)
def test_a_word_that_means_much_the_same_as_a_column_is_computed_and_is_a_gap(question, rows):
    answer = ask(question, "staff.csv")

    assert answer["rows"] == rows and not answer["is_complete"]
    assert answer["gaps"] == ["“salary” was taken to mean wage"]
    assert "“salary” was taken to mean wage" in answer["summary"]


def test_a_row_that_its_name_tells_apart_is_not_named_by_a_date_too():
    hired = "name,wage,hired\nAnna,3200,2019-04-01\nBo,2900,2020-01-15\n"

    rows = analyze({"table.csv": hired}, question="Who has the highest wage?")["rows"]

    assert rows == [["Anna", 3200], ["Bo", 2900]]


def test_of_several_tables_the_one_that_accounts_for_the_words_is_taken():
    others = ("survey.csv", "votes.csv", "firms.csv", "ferries.csv", "wells_deep.csv", "crew.csv")

    found = ask("Which rank has the highest average salary?", *others)

    assert found["results"][0]["source"] == "crew.csv" and found["is_complete"]


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (
            {"question": "Which harbour had the most delays?", "measures": ["cars"]},
            [["Oban", 29100], ["Mallaig", 11780]],
        ),
        ({"measures": ["delays"], "where": ["delays > 8"], "aggregate": "sum"}, [[32]]),
        ({"aggregate": "count", "where": ["2024-11 to 2024-12"]}, [[4]]),
        ({"aggregate": "count", "where": ["from 2024-11 to 2024-12", "Oban"]}, [[2]]),
        (
            {"measures": ["delays"], "divide_by": "crossings", "per": 1000, "group_by": "harbour"},
            [["Oban", 29.52], ["Mallaig", 21.05]],
        ),
        ({"measures": ["cars"], "share": True, "rows_with": ["Mallaig"]}, [[28.82]]),
        (
            {"measures": ["crossings", "delays"], "change": "difference", "rows_with": ["Oban"]},
            [[1050, 31, -1019, -97.05]],
        ),
        (
            {"measures": ["cars"], "aggregate": "sum", "period": "quarter"},
            [["2024-Q4", 28600], ["2025-Q1", 12280]],
        ),
    ],
)
def test_typed_arguments_need_no_sentence_and_win_over_one(arguments, rows):
    assert ask(**{"question": "", **arguments})["rows"] == rows


@pytest.mark.parametrize("text", ["a,b\n", "7\n8\n", "x\n1\n", "Ash,3\nElm,4\nOak,5\n"])
@pytest.mark.parametrize("question", ["What is the highest b?", "?", "How many x are there?"])
def test_poor_tables_are_answered_or_called_unread(text, question):
    assert isinstance(analyze({"t.csv": text}, "t", question=question)["is_complete"], bool)


WORDS = """
which what how many much harbour Oban Mallaig crossings cars delays closed month year 2024 2025-01
January Q4 most least highest lowest average total share of per 1,000 each by in from to between and
more than at least not no grew fell difference percent top 3 fastest 10 , ? ferries
"""
VOCABULARY = WORDS.split()


@given(
    st.lists(st.sampled_from(VOCABULARY), max_size=12),
    st.sampled_from(["", "quixotic", "Zanzibar", "vodka", "glückliche", "1987", "median"]),
    st.integers(0, 10),
)
def test_any_words_are_read_and_a_question_with_an_unknown_one_is_never_complete(
    words, unknown, at
):
    found = ask(" ".join([*words[:at], unknown, *words[at:]]).strip() or "?")

    assert set(found) >= {"summary", "is_complete", "gaps"}
    assert found["is_complete"] == (not found["gaps"])
    known_year = unknown == "1987" and "no row fits" in found["gaps"]
    assert not unknown or not found["is_complete"] or known_year, found
