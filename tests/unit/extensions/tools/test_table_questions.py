"""A question in words is read against a table's own columns and cells, or called unread."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.tools.sql.table_analysis import analyze_table
from extensions.tools.sql.table_answer import write_number

FERRIES = """\
harbour,month,crossings,cars,delays,closed
Oban,2024-11,400,12000,8,no
Oban,2024-12,350,9000,14,yes
Oban,2025-01,300,8100,9,yes
Mallaig,2024-11,200,4000,2,no
Mallaig,2024-12,180,3600,9,no
Mallaig,2025-01,190,4180,1,no
"""
WELLS_DEEP = "village,2021,2022,2023\nAsh,10,12,20\nElm,30,31,33\nTotal,40,43,53\n"
CREW = """\
name,sex,rank,salary_eur,zip
Ada Long,female,mate,3000,10115
Bo Short,male,cook,2500,20095
Cy Broad,male,cook,2600,10115
Di Tall,female,captain,5200,80331
"""
RENT_PER_ROOM = "Town,Year,Value\nAsh,2020,300\nAsh,2021,310\nElm,2020,500\nElm,2021,480\n"
FIRMS = """\
firm,code,year,sales_eur,mill
Ash & Co,A,2023,80,inland mill
Ash & Co,A,2024,100,inland mill
Elm Ltd,E,2023,50,sawmill
Elm Ltd,E,2024,40,sawmill
Oak AG,O,2023,10,sea mill
Oak AG,O,2024,30,sea mill
"""
SURVEY = """\
sex,region,answer,freq
female,north,yes,3
female,north,no,1
female,south,yes,4
female,south,no,2
male,north,yes,5
male,north,no,5
male,south,yes,1
male,south,no,9
"""
VOTES = "district,Lee,Kim,total\nnorth,40,10,50\nsouth,30,40,70\n"
QUARTERS = "year,quarter,gdp\n2000.0,1.0,10.5\n2000.0,2.0,11.0\n2001.0,1.0,12.0\n2001.0,2.0,12.5\n"
TABLES = {
    "survey.csv": SURVEY,
    "votes.csv": VOTES,
    "quarters.csv": QUARTERS,
    "firms.csv": FIRMS,
    "ferries.csv": FERRIES,
    "wells_deep.csv": WELLS_DEEP,
    "crew.csv": CREW,
    "rent_per_room.csv": RENT_PER_ROOM,
}


def ask(question: str, *tables: str, **arguments: Any) -> dict[str, Any]:
    materials = {name: TABLES[name] for name in tables or ("ferries.csv",)}
    return analyze_table("none", "", materials, 2.0, "", {"question": question, **arguments})


@pytest.mark.parametrize(
    ("table", "question", "rows"),
    [
        ("ferries.csv", "How many crossings did Oban have in December 2024?", [[350]]),
        ("ferries.csv", "How many cars were there in total in Q4 2024?", [[28600]]),
        ("ferries.csv", "Total crossings from November 2024 to December 2024", [[1130]]),
        ("ferries.csv", "Total crossings since 2025", [[490]]),
        ("ferries.csv", "Cars per crossing at Oban in January 2025", [[27.0]]),
        ("ferries.csv", "Delays per 1,000 crossings in Mallaig in 2025", [[5.263]]),
        ("ferries.csv", "Which harbour had the most delays?", [["Oban", 31], ["Mallaig", 12]]),
        ("ferries.csv", "How many months are there for Oban?", [[3]]),
        ("ferries.csv", "What share of the cars came from Oban?", [[71.18]]),
        ("ferries.csv", "How many harbours are there?", [[2]]),
        ("ferries.csv", "Average delays not in Oban", [[4.0]]),
        (
            "ferries.csv",
            "Total cars per harbour and per month in 2025",
            [["Mallaig", "2025-01", 4180], ["Oban", "2025-01", 8100]],
        ),
        (
            "ferries.csv",
            "By how many percent did crossings grow in Mallaig from November 2024 to January 2025?",
            [[200, 190, -10, -5.0]],
        ),
        ("wells_deep.csv", "How many wells did Elm have in 2022?", [[31]]),
        ("wells_deep.csv", "What was the total of wells in 2023?", [[53]]),
        ("crew.csv", "How many women are there?", [[2]]),
        ("crew.csv", "What is the average salary of the cooks?", [[2550.0]]),
        ("rent_per_room.csv", "What was the rent per room in Ash in 2021?", [["Ash", 2021, 310]]),
        (
            "crew.csv",
            "Which sailor has the highest salary?",
            [["Di Tall", 5200], ["Ada Long", 3000], ["Cy Broad", 2600], ["Bo Short", 2500]],
        ),
        ("survey.csv", "How many women are there in the north?", [[4]]),
        ("survey.csv", "What percentage of the respondents in the north is female?", [[28.57]]),
        ("votes.csv", "How many votes did Lee get?", [[70]]),
        ("votes.csv", "Compare Lee with Kim in the north", [["north", 40, 10]]),
        ("votes.csv", "What percentage of total is Kim?", [[41.67]]),
        ("quarters.csv", "What was gdp in the second quarter of 2001?", [[2001, 2, 12.5]]),
        (
            "quarters.csv",
            "In which quarter of which year was gdp highest?",
            [["2001-Q2", 12.5], ["2001-Q1", 12], ["2000-Q2", 11], ["2000-Q1", 10.5]],
        ),
    ],
)
def test_the_words_are_computed_on_the_tables_own_columns(table, question, rows):
    found = ask(question, table)

    assert found.get("rows") == rows, found
    assert found["is_complete"], found["gaps"]


@pytest.mark.parametrize(
    ("table", "question", "part"),
    [
        (
            "ferries.csv",
            "Which harbour had the most passengers?",
            "nothing in the table fits “passengers”",
        ),
        ("ferries.csv", "What was the median of delays in Oban?", "“median”"),
        ("ferries.csv", "Which harbour had the second most delays?", "“second”"),
        ("ferries.csv", "How many crossings on weekends were there in 2025?", "“weekends”"),
        ("ferries.csv", "How many delays will there be in 2026?", "no row fits"),
        ("ferries.csv", "How many crossings did Oban have?", "several periods"),
        ("ferries.csv", "The highest and the lowest delays?", "the highest and the lowest"),
        ("ferries.csv", "How many months have more than 10 delays?", "single rows"),
        ("wells_deep.csv", "Which village had the deepest wells in 2022?", "“deepest”"),
        ("crew.csv", "What is the sum of the zip?", "codes"),
        ("crew.csv", "How many Danes are cooks?", "“Danes”"),
        ("ferries.csv", "How many passengers did Oban have?", "“passengers”"),
        ("crew.csv", "How many tall Danes are cooks?", "“Danes”"),
        ("firms.csv", "How many tourists came to Ash & Co in 2024?", "“tourists”"),
        ("crew.csv", "How many survived?", "“survived”"),
        ("firms.csv", "Which firm hurried most?", "“hurried”"),
        ("firms.csv", "Which firm hurried most in 2024?", "“hurried”"),
        ("crew.csv", "How many women survived?", "“survived”"),
        ("survey.csv", "How many women said so?", "“said”"),
        ("votes.csv", "How many dogs did Lee get in the north and the moon?", "“moon”"),
        ("survey.csv", "What is the share of women in the north?", "in it"),
        ("firms.csv", "Which continent had the highest sales?", "“continent”"),
        ("firms.csv", "Compare the sales of the top 3 haulage brokers with profit", "“profit”"),
        (
            "ferries.csv",
            "Which harbour had the most delays per month?",
            "only harbour was computed, not month",
        ),
        ("ferries.csv", "Total delays of each harbour and of harbour", "what “harbour” belongs to"),
        ("crew.csv", "What is the profit?", "its columns are name, sex, rank, salary_eur, zip"),
    ],
)
def test_what_cannot_be_read_is_named_and_not_answered_with_the_nearest(table, question, part):
    found = ask(question, table)

    assert not found["is_complete"]
    assert part in "; ".join(found["gaps"])


@pytest.mark.parametrize(
    ("table", "question", "parts"),
    [
        (
            "crew.csv",
            "Which two have the highest salary, and what is the average salary?",
            [
                "**Di Tall**: **5,200 EUR**; **Ada Long**: **3,000 EUR**.",
                "average of salary: **3,325 EUR**",
            ],
        ),
        (
            "ferries.csv",
            "Total cars per harbour, and total delays per month",
            ["| Oban | 29,100 |", "| 2024-12 | 23 |"],
        ),
        (
            "ferries.csv",
            "Total cars per month, and by how much did delays in Oban change from November 2024 "
            "to January 2025?",
            ["| 2025-01 | 12,280 |", "change of delays from 2024-11 to 2025-01"],
        ),
        (
            "ferries.csv",
            "Total cars in Q4 2024? And which harbour had the most delays in 2025?",
            ["**28,600**", "**Oban**: **9**"],
        ),
        (
            "firms.csv",
            "What are the total sales in 2024, and which firm had the best mood in 2024?",
            ["**170 EUR**", "nothing in the table fits “mood”"],
        ),
    ],
)
def test_a_question_of_two_parts_is_answered_part_by_part(table, question, parts):
    found = ask(question, table)

    said = "\n".join([found["summary"], *found["gaps"]]).lower()
    assert [each for each in parts if each.lower() not in said] == []
    assert found["is_complete"] is not any("nothing" in each for each in parts)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("How many cars were there in 2025, and how many delays did they have?", "not delays"),
        ("What were the total cars in 2025, and what were the total delays?", "all periods"),
        ("Which harbour has no delays?", "of single rows"),
    ],
)
def test_a_part_that_hangs_on_another_or_denies_something_is_not_answered_as_if_it_did_not(
    question, why
):
    found = ask(question)

    assert not found["is_complete"]
    assert why in "; ".join(found["gaps"])


def test_the_summary_names_columns_rows_filter_and_what_was_left_out():
    table = "wells_deep.csv"

    said = ask("Which village had the most wells in 2023?", table)["summary"]

    assert said.startswith("Highest sum of wells deep (where year = 2023): **Elm**: **33**.")
    assert "2 of 9 rows used" in said and "the row of totals left out" in said


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Total crossings in Oban and Oban in 2025", "where harbour = Oban and year = 2025."),
        ("Total crossings in January", "columns `crossings`, `month`; 2 of 6 rows used"),
        ("Total crossings in January", "where month = January."),
        ("Delays per 1,000 crossings of each harbour", "`delays`, `crossings`, `harbour`"),
        ("Total cars since 2025", "where year >= 2025"),
    ],
)
def test_the_summary_names_each_column_and_filter_once(question, words):
    assert words in ask(question)["summary"]


def test_an_unknown_noun_for_ranked_things_is_said_to_be_taken_for_their_column():
    words = "Compare the sales of the top 2 haulage brokers with year-over-year growth"

    found = ask(words, "firms.csv")

    assert found["rows"][:2] == [["Ash & Co", 80, 100, 20, 25.0], ["Elm Ltd", 50, 40, -10, -20.0]]
    assert "“haulage brokers” was taken to mean each firm" in found["summary"]
    assert found["is_complete"]


def test_what_to_do_with_the_rows_names_no_column():
    words = "Put the top 2 haulage brokers side by side: sales and their growth over the year"

    found = ask(words, "firms.csv")

    assert found["gaps"] == []
    assert "“haulage brokers” was taken to mean each firm" in found["summary"]


def test_two_readings_with_different_answers_are_both_named():
    text = "shop,month,sales\nA,2024-01,9\nA,2024-02,1\nB,2024-01,6\nB,2024-02,7\n"
    highest = {"question": "Which shop had the highest sales?"}
    most = {"question": "Which shop had the most sales?"}

    unclear = analyze_table("none", "", {"s.csv": text}, 2.0, "", highest)
    clear = analyze_table("none", "", {"s.csv": text}, 2.0, "", most)

    assert not unclear["is_complete"] and "A or B" in unclear["gaps"][0]
    assert clear["is_complete"] and clear["rows"][0] == ["B", 13]


def test_of_several_tables_the_one_that_accounts_for_the_words_is_taken():
    found = ask("Which rank has the highest average salary?", *TABLES)

    assert found["results"][0]["source"] == "crew.csv" and found["is_complete"]


def test_the_answer_is_worded_in_german_on_request():
    found = ask("Wie viele cars gab es insgesamt in Mallaig?", language="de")

    assert found["summary"].startswith("Summe von cars (mit harbour = Mallaig): **11.780**.")
    assert found["is_complete"]


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        ({"measures": ["delays"], "where": ["delays > 8"], "aggregate": "sum"}, [[32]]),
        ({"aggregate": "count", "where": ["2024-11 to 2024-12"]}, [[2]]),
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
def test_typed_arguments_need_no_sentence(arguments, rows):
    if "2024-11 to 2024-12" in arguments.get("where", ()):
        rows = [[4]]

    assert ask("", **arguments)["rows"] == rows


def test_a_typed_argument_wins_over_the_words():
    found = ask("Which harbour had the most delays?", measures=["cars"])

    assert found["rows"] == [["Oban", 29100], ["Mallaig", 11780]]


@pytest.mark.parametrize("text", ["a,b\n", "7\n8\n", "x\n1\n", "Ash,3\nElm,4\nOak,5\n"])
@pytest.mark.parametrize("question", ["What is the highest b?", "?", "How many x are there?"])
def test_poor_tables_are_answered_or_called_unread(text, question):
    found = analyze_table("none", "", {"t.csv": text}, 2.0, "t", {"question": question})

    assert isinstance(found["is_complete"], bool)


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


@pytest.mark.parametrize(
    ("value", "language", "text"),
    [
        (1234567, "en", "1,234,567"),
        (-1234.567, "en", "-1,234.57"),
        (1234.5, "de", "1.234,5"),
        (0.00083, "en", "0.00083"),
        (None, "en", ""),
        ("x", "de", "x"),
    ],
)
def test_a_number_is_written_for_a_reader(value, language, text):
    assert write_number(value, language) == text
