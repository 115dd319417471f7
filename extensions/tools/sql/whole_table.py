"""Read a whole CSV text into memory, its numbers with decimal points."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from extensions.tools.sql.amounts import AmountColumn, read_amounts
from extensions.tools.sql.numbers import NumberColumn, count_forms, find_form, read_number_columns
from extensions.tools.sql.table_defects import TableNote, list_column_defects, list_doubles
from nodes.text.csv_table import open_csv


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
