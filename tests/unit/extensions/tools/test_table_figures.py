"""Figures of a table are given as they are written; only what is computed from them is rounded."""

from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from extensions.tools.sql.numbers import write_cell
from extensions.tools.sql.table_analysis import analyze_table
from extensions.tools.sql.table_computation import PERCENT, QUOTIENT, SUM, Digits, round_apart

figures = st.decimals(-(10**9), 10**9, places=6).map(str) | st.decimals(-1, 1, places=12).map(
    "{:f}".format
)


def analyze(cells: list[str], **question: Any) -> dict[str, Any]:
    text = "name,size\n" + "".join(f"n{n},{cell}\n" for n, cell in enumerate(cells))
    return analyze_table("files", "", {"a.csv": text}, 20, "", {"measures": ["size"], **question})


@pytest.mark.slow
@given(cells=st.lists(figures, min_size=1, max_size=6, unique_by=float))
@example(cells=["0.00001", "0.00002", "0.00004"])
@example(cells=["1.2345", "1.2346", "1234567.891"])
@settings(max_examples=30, deadline=None)
def test_a_ranking_has_the_tables_own_figures_and_its_own_first(cells: list[str]) -> None:
    found = analyze(cells, limit=1)
    listed = analyze(cells)
    largest = max(cells, key=float)

    assert sorted(row[1] for row in listed["rows"]) == sorted(map(float, cells))
    assert [row[0] for row in found["rows"]] == [f"n{cells.index(largest)}"]
    assert float(found["rows"][0][1]) == float(largest)


@given(
    values=st.lists(st.floats(-1e9, 1e9).filter(lambda v: not 0 < abs(v) < 1e-9), min_size=1),
    digits=st.sampled_from((SUM, QUOTIENT, PERCENT)),
)
def test_rounding_keeps_the_order_and_the_size_of_values(
    values: list[float], digits: Digits
) -> None:
    rounded = round_apart(values, digits)

    assert [rounded[n] for n in sorted(range(len(values)), key=values.__getitem__)] == sorted(
        rounded
    )
    for value, shown in zip(values, rounded, strict=True):
        assert shown == pytest.approx(value, rel=10.0 ** (1 - digits.significant))


@given(st.floats(0.001, 1000), st.integers(1, 10))
def test_values_that_differ_are_not_rounded_to_one(value: float, step: int) -> None:
    other = value + step / 10**6
    assume(value != other)

    assert len(set(round_apart([value, other], QUOTIENT))) == 2


@pytest.mark.parametrize(
    ("cells", "aggregate", "shown"),
    [
        (["0.00001", "0.00002", "0.00004"], "average", 0.00002333),
        (["0.1", "0.2"], "sum", 0.3),
        (["1.2345", "2.3456"], "sum", 3.5801),
        (["0.00123456", "0.5"], "minimum", 0.00123456),
        (["1234567.891", "2"], "average", 617284.95),
        (["1", "2", "2"], "average", 1.667),
    ],
)
def test_a_computed_value_has_the_digits_that_matter(
    cells: list[str], aggregate: str, shown: float
) -> None:
    assert analyze(cells, aggregate=aggregate)["rows"] == [[shown]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-05, "0.00001"),
        (2.5, "2.5"),
        (-20.0, "-20.0"),
        (7, "7"),
        (None, "None"),
        (1e300, "1e+300"),
    ],
)
def test_a_number_is_written_as_tables_have_it(value: object, text: str) -> None:
    assert write_cell(value) == text
