"""A computation that was asked for and not made is an unanswered part."""

import pytest

from nodes.models.embedded.uncomputed_parts import list_uncomputed_parts

ROWS = {
    "output": "| city | month | cups | price |\n| --- | --- | --- | --- |\n"
    "| Graz | 1 | 120 | 3.2 |\n| Linz | 1 | 80 | 3.5 |"
}
SUMS = {"output": "| city | sum of cups |\n| --- | --- |\n| Graz | 260 |\n| Linz | 170 |"}


@pytest.mark.parametrize(
    "request_text",
    [
        "What was the revenue (cups times price) of each city?",
        "What is the total of cups per city?",
        "What is the average price by city?",
        "What is the median of the cups?",
        "How did cups change from January to March?",
        "What share of the cups did Graz sell?",
        "Compute the ratio of cups to price.",
        "What is cups * price in Linz?",
    ],
)
def test_rows_alone_do_not_answer_a_computation(request_text):
    assert list_uncomputed_parts(request_text, [ROWS]) == [request_text.rstrip(".?")]


@pytest.mark.parametrize(
    ("request_text", "report"),
    [
        ("What is the total of cups per city?", SUMS),
        ("Which city sold the most cups?", ROWS),
        ("List the cups by city.", ROWS),
        ("How many cups did Graz sell at peak times?", ROWS),
        ("Why did the price rise?", ROWS),
        ("What is the average rent?", ROWS),
        ("What are 120 cups times a price of 3.2?", {"output": "120 * 3.2 = 384"}),
        ("What is the total of cups?", {"output": "The total is 430 cups (notes.md)."}),
        (
            "What is the total of cups in Graz?",
            {"output": "| city | cups |\n| --- | --- |\n| Graz | 260 |"},
        ),
    ],
)
def test_what_was_computed_or_is_no_computation_is_not_listed(request_text, report):
    assert list_uncomputed_parts(request_text, [report]) == []


def test_only_the_part_that_was_not_computed_is_listed():
    request = "Rank the cities by cups, and what is the average of the price?"

    assert list_uncomputed_parts(request, [ROWS]) == ["what is the average of the price"]
