"""Name what is unusual in a table: cells without a number, several units, negatives, doubles."""

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from extensions.tools.sql.amounts import AmountColumn
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line

MAX_NAMED: Final = 5
MAX_CELL_CHARS: Final = 30
RARE: Final = 5
"""Negatives are unusual if at most one number in so many is one."""
MIN_SUMMED: Final = 4
"""Numbers of which a last one is taken for their sum."""
COUNTED: Final = "(counted)"
LEFT_OUT: Final = "(left out)"
UNUSED: Final = "(not in any figure)"
TOTAL_ROW: Final = "the sum of the cells above it"
DOUBLES: Final = "an earlier one"
_DAY: Final = Pattern(r"\d{4}-\d\d-\d\d")


Places = Sequence[tuple[int, str]]
"""Lines, and what the cells there hold."""


class TableNote(NamedTuple):
    """A sentence on a table, or on one of its columns."""

    text: str
    column: str = ""


def list_column_defects(
    name: str,
    written: Sequence[str],
    cells: Sequence[str],
    lines: Sequence[int],
    amount: AmountColumn | None,
    *,
    is_number: bool,
) -> list[TableNote]:
    """Return a sentence for each thing that is unusual in a column.

    Args:
        written: its cells in the file.
        cells: the same as they are computed on.
        lines: the line of each in the file.
        amount: its amounts, where some cells are no plain number.
    """
    if not is_number:
        several = _describe_units(name, amount) if amount and amount.units else ""
        return [
            TableNote(text, name) for text in (several, _describe_days(name, cells, lines)) if text
        ]
    numbers = amount.numbers if amount else cells
    places = list(zip(lines, written, numbers, strict=True))
    lacking = [(line, cell) for line, cell, number in places if not number]
    negative = [(line, cell) for line, cell, number in places if number.startswith("-")]
    shown = zip(lines, cells, numbers, strict=True)
    found = []
    if amount and amount.unit:
        bare = f"; {format_count(amount.bare, 'cell')} without it {COUNTED}" if amount.bare else ""
        found.append(f"its numbers are in {amount.unit}{bare}")
    if total := _find_total([(line, cell) for line, cell, number in shown if number]):
        found.append(f"{TOTAL_ROW} {COUNTED}{_join([total])}")
    notes = [TableNote(f"{name}: {text}", name) for text in found]
    if lacking:
        notes.append(describe_lacking(name, len(lacking), len(cells), lacking))
    if is_unusual(len(negative), len(cells) - len(lacking)):
        notes.append(describe_negative(name, negative))
    return notes


def describe_lacking(name: str, count: int, of: int, places: Places = ()) -> TableNote:
    """Return a sentence on the cells of a column of numbers that hold none."""
    text = f"{name}: no number in {count:,} of {format_count(of, 'cell')} {UNUSED}"
    return TableNote(f"{text}{_join(places)}", name)


def describe_negative(name: str, places: Places = ()) -> TableNote:
    """Return a sentence on the cells of a column that are below zero."""
    return TableNote(f"{name}: below zero, unlike the others {COUNTED}{_join(places)}", name)


def is_unusual(negative: int, numbers: int) -> bool:
    """Return whether so few of a column's numbers are below zero that it may be a mistake."""
    return 0 < RARE * negative <= numbers


def _find_total(cells: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """Return the last number of a column if it is the sum of all others."""
    *above, last = [Decimal(cell) for _, cell in cells] or [Decimal()]
    return cells[-1] if len(above) >= MIN_SUMMED and last and sum(above) == last else None


def list_doubles(rows: Sequence[Sequence[str]], lines: Sequence[int]) -> list[TableNote]:
    """Return a sentence that names the rows that repeat an earlier one."""
    seen, again = set[Sequence[str]](), list[tuple[int, str]]()
    for row, line in zip(rows, lines, strict=True):
        if row in seen:
            again.append((line, ""))
        seen.add(row)
    return [describe_doubles(len(again), again)] if again else []


def describe_doubles(count: int, places: Places = ()) -> TableNote:
    """Return a sentence on the rows that repeat an earlier one."""
    rows_are = "1 row repeats" if count == 1 else f"{count:,} rows repeat"
    return TableNote(f"{rows_are} {DOUBLES} {COUNTED}{_join(places)}")


def _describe_units(name: str, amount: AmountColumn) -> str:
    units = ", ".join(f"{unit or 'none'} in {format_count(n, 'cell')}" for unit, n in amount.units)
    return f"{name}: it has several units and is not computed: {units}"


def _describe_days(name: str, cells: Sequence[str], lines: Sequence[int]) -> str:
    days = [(line, cell) for line, cell in zip(lines, cells, strict=True) if _DAY.fullmatch(cell)]
    wrong = [(line, cell) for line, cell in days if not _is_day(cell)]
    return f"{name}: these are no days of the calendar{_join(wrong)}" if wrong else ""


def _is_day(cell: str) -> bool:
    try:
        datetime.date.fromisoformat(cell)
    except ValueError:
        return False
    return True


def _join(places: Places) -> str:
    """Return some places with what they hold, after a colon, and how many more there are."""
    shown = [
        f"line {line}{f' {sanitize_line(cell, MAX_CELL_CHARS)!r}' if cell else ''}"
        for line, cell in places[:MAX_NAMED]
    ]
    more = len(places) - MAX_NAMED
    return f"{': ' * bool(shown)}{', '.join(shown)}{f' and {more} more' if more > 0 else ''}"
