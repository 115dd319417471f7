"""The words and figures in which the answer to a question about a table is shown."""

import pytest

from extensions.tools.sql.table_analysis import analyze_table
from tests.unit.extensions.tools.test_table_questions import ask


def test_the_highest_of_a_period_is_a_sum_and_of_a_name_says_where_it_is_of_one_row():
    month = ask("Which month had the highest cars?")["summary"]
    harbour = ask("Which harbour had the highest cars?")["summary"]

    assert month.startswith("Highest sum of cars: **2024-11**: **16,000**.")
    assert harbour.startswith("Highest cars in a single row: **Oban**: **12,000**.")


@pytest.mark.parametrize(
    "question",
    [
        "How many employees does Oban have?",
        "How many helmets were sold at Oban in 2025?",
        "Total cars at Southport in 2025",
    ],
)
def test_no_figure_is_shown_for_things_that_are_not_in_the_table(question):
    found = ask(question)

    assert found["summary"] == "" and "nothing in the table fits" in found["gaps"][0]


@pytest.mark.parametrize(
    "question", ["Top 2 months by cars", "Rank the months by cars", "Compare the months by cars"]
)
def test_months_that_are_listed_are_those_of_the_table(question):
    found = ask(question)

    assert found["is_complete"], found["gaps"]
    assert sorted(found["rows"][:2]) == [["2024-11", 16000], ["2024-12", 12600]]


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("Average number of cars per month", "single rows were averaged, not the sums"),
        ("Which month had the most cars in Oban and which in Mallaig?", "two are asked for"),
    ],
)
def test_a_figure_of_another_reading_is_not_complete(question, gap):
    found = ask(question)

    assert not found["is_complete"] and gap in "; ".join(found["gaps"])


def test_a_change_counts_the_rows_of_its_two_periods():
    said = ask("Change of cars from November 2024 to January 2025")["summary"]

    assert "4 of 6 rows used" in said


def test_a_figure_that_leaves_out_words_says_so_itself():
    said = ask("Total cars in 2025 with the mood of Oban")["summary"]

    assert said.startswith("Leaving out “mood”: ") and "**" not in said.partition("\n")[0]


def test_the_figures_of_a_column_have_as_many_decimals_each():
    text = "shop,price\nA,2.5\nB,3\nC,4.25\n"
    asked = {"question": "What is the price of each shop?"}

    said = analyze_table("none", "", {"s.csv": text}, 2.0, "", asked)["summary"]

    assert all(cell in said for cell in ("| 2.50 |", "| 3.00 |", "| 4.25 |"))


def test_rows_in_no_order_are_a_table_under_words_for_what_they_are():
    said = ask("Compare the sales of each firm with year-over-year growth", "firms.csv")["summary"]

    assert said.startswith(
        "**Change of sales (EUR) from 2023 to 2024**\n\n| firm | sales 2023 (EUR) |"
    )
    assert said.count("Ash & Co") == 1
