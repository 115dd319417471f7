"""CSV tables and the numbers in them."""

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from extensions.tools.sql.numbers import detect_decimal_mark, parse_number, write_cell
from extensions.tools.sql.table_analysis import analyze_table
from extensions.tools.sql.table_answer import write_number
from extensions.tools.tables.formatting import PERCENT, QUOTIENT, SUM, Digits, round_apart
from extensions.tools.tables.reader import (
    TableDefects,
    find_table,
    read_headers,
    read_table,
    require_table,
)
from nodes.errors import ToolRefused


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("1234.5", "unknown", "1234.5"),
        ("1,234.50", "unknown", "1234.50"),
        ("12,345,678", "unknown", "12345678"),
        ("1,234", "point", "1234"),
        ("1.234", "comma", "1234"),
        ("1.234,50", "comma", "1234.50"),
        ("98,6", "comma", "98.6"),
        ("€ 12.50", "unknown", "12.50"),
        ("-3", "unknown", "-3"),
        ("\u22123.5", "unknown", "-3.5"),
    ],
)
def test_a_number_is_read_as_people_write_it(text, mark, value):
    assert parse_number(text, mark) == Decimal(value)


@pytest.mark.parametrize(
    "text", ["1,234", "", "n/a", "12,34", "1e5", "NaN", "inf", "1.2.3", "--1", "1 2", "٣", "9" * 30]
)
def test_what_is_no_number_or_may_be_two_is_not_read(text):
    assert parse_number(text) is None


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["12.50", "1,234"], "point"),
        (["12,50", "1.234"], "comma"),
        (["1,234", "1.234"], "unknown"),
        (["12.50", "12,50"], "unknown"),
        (["2025-01-02", "VTI"], "unknown"),
    ],
)
def test_the_decimal_mark_is_inferred_from_the_whole_table(cells, mark):
    assert detect_decimal_mark(cells) == mark


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_both_ways_of_writing_a_number_give_the_same(value):
    text = f"{value:,.2f}"
    swapped = text.replace(",", "_").replace(".", ",").replace("_", ".")

    assert parse_number(text, "point") == parse_number(swapped, "comma") == value


def test_a_row_knows_its_line_below_remarks_and_blank_lines():
    table = read_table("a.csv", "# made up\n\nname;qty\nA;1,50\n\nB;2,25\n")

    assert [(row.line, row.cells) for row in table.rows] == [(4, ("A", "1,50")), (6, ("B", "2,25"))]
    assert table.parse_number(table.rows[1].cells[1]) == Decimal("2.25")


def test_a_column_is_found_under_any_usual_name():
    table = read_table("a.csv", "Ticker,Market Value (EUR)\nA,1\n")

    assert table.find_column(("quantity", "market_value")) == 1
    assert table.find_column(("price",)) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.csv is empty"),
        ("a,b\n", "has column names and no rows"),
        ("a,a\n1,2\n", "has the column 'a' twice"),
        ("a,b\n1,2,3\n", "a.csv line 2 has 3 cells under 2 column names"),
        ('a,b\n"1,2\n', "a.csv line 2 cannot be read"),
        (",".join(f"c{n}" for n in range(500)) + "\n1\n", "500 columns, of at most 400"),
        ("a,b\n" + "1,2\n" * 100_001, "more than 100000 rows"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_in_one_line(text, message):
    with pytest.raises(ToolRefused, match=message) as raised:
        read_table("a.csv", text)

    assert "\n" not in str(raised.value)


def test_only_materials_with_columns_are_looked_at():
    found = read_headers({"a.csv": "x,y\n1,2\n", "note.md": "x,y\n", "b.csv": "one\n", "c.csv": ""})

    assert [table.name for table in found] == ["a.csv"]


def test_defects_are_reported_together_and_counted():
    table, defects = read_table("a.csv", "a,b\n1,2\n"), TableDefects()
    for line in range(1, 9):
        defects.add_defect("is wrong", table, line)

    with pytest.raises(ToolRefused, match=r"a.csv line 5: is wrong; and 3 more$"):
        defects.raise_if_any()


TWO = {"a.csv": "x,y\n1,2\n", "b.csv": "x,y\n3,4\n", "c.csv": "y,z\n5,6\n", "d.md": "x,y\n"}


def has_x(table):
    return table.find_column(("x",)) is not None


def test_a_table_is_found_by_its_columns_and_of_several_by_its_name():
    held = {"c.csv": TWO["c.csv"], "folder/a.csv": TWO["a.csv"]}

    assert require_table(held, "has x", has_x).name == "folder/a.csv"
    assert require_table(TWO, "has x", has_x, ["b.csv"]).rows[0].cells == ("3", "4")
    assert require_table(held, "has x", has_x, ["c.csv"]).name == "folder/a.csv"
    assert find_table({"c.csv": TWO["c.csv"]}, "has x", has_x) is None


@pytest.mark.parametrize(
    ("materials", "files", "message"),
    [
        (TWO, [], "more than one CSV material has x: a.csv, b.csv; name one of them in `files`"),
        ({"c.csv": "y,z\n"}, [], "no CSV material has x; materials of this task: c.csv"),
        (None, [], "no CSV material has x; materials of this task: none"),
        (TWO, ["e.csv"], "no material is named 'e.csv'; materials of this task: a.csv, b.csv"),
        ({"a.csv": "x,y\n"}, [], "a.csv has column names and no rows"),
    ],
)
def test_a_table_that_is_not_clear_is_refused_with_the_materials(materials, files, message):
    with pytest.raises(ToolRefused, match=re.escape(message)):
        require_table(materials, "has x", has_x, files)


@pytest.mark.parametrize(
    ("cell", "value", "defect"),
    [
        ("12.5", Decimal("12.5"), ""),
        ("40%", Decimal(40), ""),
        ("0", Decimal(0), ""),
        ("-1", None, "a.csv line 2: the price, '-1', is below zero"),
        ("ten", None, "a.csv line 2: the price, 'ten', is not a number or is ambiguous"),
    ],
)
def test_a_cell_is_an_amount_or_a_defect(cell, value, defect):
    table, defects = read_table("a.csv", f"a,b\n1,{cell}\n"), TableDefects()

    assert defects.parse_amount(table, table.rows[0], 1, "the price") == value
    assert "".join(defects.messages) == defect


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
