"""Read a whole CSV text into memory, its numbers with decimal points, and name what is unusual."""

import datetime
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from extensions.tools.sql.numbers import (
    AmountColumn,
    NumberColumn,
    count_forms,
    find_form,
    read_amounts,
    read_number_columns,
)
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.csv_table import open_csv
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
_LACKING: Final = Pattern(r"no number in ([\d,]+) of ([\d,]+) cells? \(not in any figure\)")
_LINE: Final = Pattern(r"\bline (\d+)")
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


def translate_note(text: str, language: str) -> str:
    """Return a sentence on cells without a number in the language of an answer."""
    found = _LACKING.search(text) if language == "de" else None
    if not found:
        return text
    said = f"keine Zahl in {found[1]} von {found[2]} Zellen (in keiner Summe)"
    places = _LINE.sub(r"Zeile \1", text[found.end() :])
    return f"{text[: found.start()]}{said}{places}"


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


@dataclass(frozen=True)
class WholeTable:
    """A table with all its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells as they are written, but numbers with a decimal point and without other marks, and
    empty ones in place of what says among numbers that there is none, such as n/a."""
    numbers: tuple[NumberColumn | None, ...]
    """How the numbers of each column were written; None for a column of anything else."""
    codes: tuple[bool, ...]
    """Which columns hold digits that are no number, such as 0043."""
    notes: tuple[TableNote, ...]
    """What a user should know of how it was read, and what is unusual in it."""


@lru_cache(maxsize=16)
def read_whole_table(text: str) -> WholeTable:
    """Return the table of a CSV text.

    Raises:
        CsvUnreadable: the text is no table, or some of its rows do not fit; names the lines.
    """
    opened = open_csv(io.StringIO(text, newline=""))
    records = list(opened.read_rows())
    rows, lines = [record.cells for record in records], [record.line for record in records]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(opened.columns)
    counts = [count_forms(cells) for cells in columns]
    amounts = [
        read_amounts(cells) if count["other"] else None
        for cells, count in zip(columns, counts, strict=True)
    ]
    forms = [
        count_forms(amount.numbers) if amount else count
        for amount, count in zip(amounts, counts, strict=True)
    ]
    numbers = read_number_columns(forms, opened.delimiter)
    plain = [
        _write_plainly(cells, number, amount)
        for cells, number, amount in zip(columns, numbers, amounts, strict=True)
    ]
    notes = [TableNote(note) for note in opened.list_notes()]
    notes += list_assumptions(opened.columns, numbers)
    for name, written, cells, number, amount in zip(
        opened.columns, columns, plain, numbers, amounts, strict=True
    ):
        notes += list_column_defects(
            name, written, cells, lines, amount, is_number=number is not None
        )
    if any(numbers):
        notes += list_doubles(rows, lines)
    return WholeTable(
        opened.columns,
        tuple(zip(*plain, strict=True)) if rows else (),
        tuple(numbers),
        tuple(bool(each["code"]) for each in counts),
        tuple(notes),
    )


def list_assumptions(
    columns: Sequence[str], numbers: Sequence[NumberColumn | None]
) -> list[TableNote]:
    """Return a sentence for each column whose decimal mark nothing in its table shows."""
    marks = {
        "comma": "commas, 1.200 as 1200 and 1,200 as 1.2",
        "point": "points, 1.200 as 1.2 and 1,200 as 1200",
    }
    return [
        TableNote(
            f"{name} may have decimal points or decimal commas; it was read with decimal "
            f"{marks[number.mark]}",
            name,
        )
        for name, number in zip(columns, numbers, strict=True)
        if number and number.is_assumed
    ]


def _write_plainly(
    cells: Sequence[str], number: NumberColumn | None, amount: AmountColumn | None
) -> Sequence[str]:
    """Return the cells of a column, those that are numbers without marks and units."""
    if number is None:
        return cells
    if amount is None:
        if number.is_plain and not number.has_missing:
            return cells
        return [number.write_plainly(cell) for cell in cells]
    return [
        number.write_plainly(found) if found else "" if find_form(cell) == "missing" else cell
        for cell, found in zip(cells, amount.numbers, strict=True)
    ]
