"""The words and figures in which the answer to a question about a table is shown."""

from typing import Any

import pytest

from tests.unit.extensions.tools.test_table_questions import analyze, answer_words, ask, list_cases

SAID = {
    "ferries.csv": {
        "Total crossings in Oban and Oban in 2025": ["where harbour = Oban and year = 2025."],
        "Total crossings in January": [
            *("columns `crossings`, `month`; 2 of 6 rows used", "where month = January.")
        ],
        "Delays per 1,000 crossings of each harbour": ["`delays`, `crossings`, `harbour`"],
        "Total cars since 2025": ["where year >= 2025"],
        "Which month had the highest cars?": ["Highest sum of cars: **2024-11**: **16,000**."],
        "Which harbour had the highest cars?": [
            "Highest cars in a single row: **Oban**: **12,000**."
        ],
        "Change of cars from November 2024 to January 2025": ["4 of 6 rows used"],
        "Total cars per harbour, and total delays per month": [
            *("| Oban | 29,100 |", "| 2024-12 | 23 |")
        ],
        "Total cars per month, and by how much did delays in Oban change from November 2024 to "
        "January 2025?": ["| 2025-01 | 12,280 |", "Change of delays from 2024-11 to 2025-01"],
        "Total cars in Q4 2024? And which harbour had the most delays in 2025?": [
            *("**28,600**", "**Oban**: **9**")
        ],
    },
    "crew.csv": {
        "Which two have the highest salary, and what is the average salary?": [
            "**Di Tall**: **5,200 EUR**; **Ada Long**: **3,000 EUR**.",
            "verage of salary: **3,325 EUR**",
        ],
    },
    "wells_deep.csv": {
        "Which village had the most wells in 2023?": [
            "Highest sum of wells deep (where year = 2023): **Elm**: **33**.",
            *("2 of 9 rows used", "the row of totals left out"),
        ],
    },
    "loans.csv": {"Growth of pages from Q1 to Q2 2024": ["from 2024-Q1 to 2024-Q2"]},
    "prices.csv": {"What is the price of each shop?": ["| 2.50 |", "| 3.00 |", "| 4.25 |"]},
    "firms.csv": {
        "Compare the sales of each firm with year-over-year growth": [
            "**Change of sales (EUR) from 2023 to 2024**\n\n| firm | sales 2023 (EUR) |"
        ],
        "Put the top 2 haulage brokers side by side: sales and their growth over the year": [
            "“haulage brokers” was taken to mean each firm"
        ],
    },
}


@pytest.mark.parametrize(("table", "question", "parts"), list_cases(SAID))
def test_the_summary_answers_each_part_and_names_columns_rows_and_filters(table, question, parts):
    found = ask(question, table)

    assert [each for each in parts if each not in found["summary"]] == []
    assert found["is_complete"], found["gaps"]


def test_of_two_parts_the_one_that_cannot_be_read_is_a_gap_beside_the_other():
    found = ask(
        "What are the total sales in 2024, and which firm had the best mood in 2024?", "firms.csv"
    )

    assert "**170 EUR**" in found["summary"] and not found["is_complete"]
    assert any("no column or cell of the table is called “mood”" in gap for gap in found["gaps"])


def test_a_figure_that_leaves_out_words_says_so_itself():
    said = ask("Total cars in 2025 with the mood of Oban")["summary"]

    assert said.startswith("Leaving out “mood”: ") and "**" not in said.partition("\n")[0]


def test_a_year_of_months_is_shown_whole():
    months = "month,pages\n" + "".join(f"2024-{n:02d},{n}\n" for n in range(1, 13))

    answer = analyze({"pages.csv": months}, question="Pages by month")

    assert "2024-12" in answer["summary"] and "more" not in answer["summary"]


def test_the_answer_is_worded_in_german_on_request():
    found = ask("Wie viele cars gab es insgesamt in Mallaig?", language="de")

    assert found["summary"].startswith("Summe von cars (mit harbour = Mallaig): **11.780**.")
    assert found["is_complete"]


def test_what_may_be_read_in_another_way_is_said_in_german_too():
    found = ask("Welcher harbour hat die meisten cars und die wenigsten delays?", language="de")

    assert "nach dem Höchsten und dem Niedrigsten ist gefragt" in found["gaps"]


def test_the_highest_and_the_lowest_are_both_named_where_both_are_asked_for():
    found = ask("Which harbour had the most and the fewest cars?")

    assert "Highest sum of cars" in found["summary"] and "Lowest sum" in found["summary"]
    assert found["is_complete"]


def find_used(farms: int, days: int) -> dict[str, Any]:
    table = "farm,eur\n" + "".join(f"F{day % farms},{day}\n" for day in range(1, days))
    used: dict[str, Any] = answer_words("What is the sum of eur per farm?", "a.csv", table).get(
        "used", {}
    )
    return used


def test_of_groups_of_many_rows_each_shows_its_first_and_how_many_they_are() -> None:
    used = find_used(farms=3, days=50)

    assert [row[0] for row in used["rows"]].count("F1") == 10
    assert used["counts"] == [["F1", 17], ["F2", 16], ["F0", 16]] and used["count"] == 49


def test_of_very_many_rows_or_groups_none_are_shown() -> None:
    assert not find_used(farms=3, days=300) and not find_used(farms=40, days=60)


def test_what_names_rows_in_one_part_restricts_no_other_part() -> None:
    table = "title,hall,sold\nHerons,Studio,12\nKettle,Studio,30\nMiller,Great Hall,50\n"

    found = answer_words(
        "What is the rent of the Studio, and which title had the most zebras sold?", "a.csv", table
    )

    assert "Miller" in found["summary"] and "Studio" not in found["summary"].partition("\n")[0]
    assert any("rent" in gap for gap in found["gaps"])


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("What do the invoices in May come to?", "**30 EUR**"),
        ("What do the invoices of Ann add up to?", "**15 EUR**"),
    ],
)
def test_come_to_and_add_up_to_ask_for_a_total_where_nothing_follows(question, figure) -> None:
    rows = "soles,Ann,2024-05-02,10\nheels,Bo,2024-05-03,20\nzip,Ann,2024-06-01,5\n"
    table = f"vendor,owner,day,amount_eur\n{rows}"

    assert figure in answer_words(question, "invoices.csv", table)["summary"]


def test_to_come_to_a_place_is_no_total() -> None:
    table = "guest,place,nights\nAnn,Inn,2\nBo,Inn,1\nCy,Hut,4\n"

    assert "**2**" in answer_words("How many guests came to the Inn?", "a.csv", table)["summary"]


def test_spending_is_the_column_of_costs() -> None:
    table = "item,shop,cost\npaint,Holt,10\nrope,Holt,20\nnails,Roth,5\n"

    found = answer_words("How much did we spend at Holt?", "kit.csv", table)

    assert found["is_complete"] and "**30**" in found["summary"]
