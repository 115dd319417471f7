"""Figures and periods in a text, in the ways in which people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.text.dates import Period, take_periods
from nodes.text.figures import Quantity, read_figures


def read_one(text: str) -> Quantity:
    (quantity,) = read_figures(text).quantities
    return quantity


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("61.7 billion USD", 61.7e9, "usd"),
        ("$3.5bn", 3.5e9, "usd"),
        ("seventy-five thousand people", 75_000, ""),
        ("a quarter of a million", 250_000, ""),
        ("half a minute", 30, "time"),
        ("a year and a half", 18, "months"),
        ("a third of them", 100 / 3, "%"),
        ("one in seven", 100 / 7, "%"),
        ("it doubled", 2, ""),
        ("12 km", 12_000, "length"),
        ("3,5 Millionen Euro", 3.5e6, "eur"),
        ("fünfundsiebzigtausend", 75_000, ""),
        ("zweieinhalb Stunden", 9_000, "time"),
        ("thirty (30) days", 30 * 86_400, "time"),
        ("١٢٣ items", 123, ""),
        ("-12.3 percent", -12.3, "%"),
    ],
)
def test_a_number_is_read_in_digits_and_words(text: str, value: float, unit: str) -> None:
    found = read_one(text)

    assert found.value == pytest.approx(value) and found.unit == unit


@pytest.mark.parametrize("text", ["1e309", "2.31.0", "COVID-19", "14:30", "v2"])
def test_a_name_with_digits_is_no_number(text: str) -> None:
    assert read_one(text).is_literal


@pytest.mark.parametrize(
    ("claimed", "found", "is_same"),
    [
        ("61.7 billion", "61,700 million", True),
        ("about 200,000", "203,411", True),
        ("203,000", "203,411", False),
        ("12 percent", "0.12", True),
        ("42,000 metres", "42 km", True),
        ("59,200 USD", "59,200 EUR", False),
        ("15 litres per second", "15 litres per minute", False),
        ("over 50,000", "58,000 users", False),
        ("three weeks", "three days", False),
        ("1,000 g", "1,000 mg", False),
    ],
)
def test_two_ways_to_write_a_number_are_compared(claimed: str, found: str, is_same: bool) -> None:
    assert read_one(claimed).equals(read_one(found)) is is_same


@pytest.mark.parametrize(
    ("text", "year", "month", "day", "quarter"),
    [
        ("on 5 March 2027", 2027, 3, 5, 0),
        ("am 3. März 2027", 2027, 3, 3, 0),
        ("March 2027", 2027, 3, 0, 0),
        ("2024-11-04", 2024, 11, 4, 0),
        ("in the fourth quarter of 2024", 2024, 0, 0, 4),
        ("Q4 2024", 2024, 0, 0, 4),
        ("in May", 0, 5, 0, 0),
    ],
)
def test_a_period_is_read(text: str, year: int, month: int, day: int, quarter: int) -> None:
    (period,) = read_figures(text).periods

    assert (period.year, period.month, period.day, period.quarter) == (year, month, day, quarter)


def test_a_period_is_within_a_nearer_one() -> None:
    day = Period("", 2027, 3, 5)

    assert Period("", 2027, 3).is_within([day]) and Period("", 2027, 0, 0, 1).is_within([day])
    assert not Period("", 2026, 3).is_within([day])


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    figures = read_figures(text)

    assert all(len(each.values) <= 2 for each in figures.quantities)
    assert len(take_periods(text)[1]) == len(text)
