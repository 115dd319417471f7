"""Read a whole CSV text into memory, its numbers with decimal points."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from nodes.text.csv_table import open_csv
from nodes.text.numbers import NumberColumn, count_forms, read_number_columns


@dataclass(frozen=True)
class WholeTable:
    """A table with all its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells as they are written, but numbers with a decimal point and without other marks."""
    numbers: tuple[NumberColumn | None, ...]
    """How the numbers of each column were written; None for a column of anything else."""
    codes: tuple[bool, ...]
    """Which columns hold digits that are no number, such as 0043."""
    notes: tuple[str, ...]
    """What a user should know of how it was read, a sentence each."""


@lru_cache(maxsize=16)
def read_whole_table(text: str) -> WholeTable:
    """Return the table of a CSV text.

    Raises:
        CsvUnreadable: the text is no table, or some of its rows do not fit; names the lines.
    """
    opened = open_csv(io.StringIO(text, newline=""))
    rows = [record.cells for record in opened.read_rows()]
    columns = zip(*rows, strict=True) if rows else ((),) * len(opened.columns)
    counts = [count_forms(cells) for cells in columns]
    numbers = read_number_columns(counts, opened.delimiter)
    return WholeTable(
        opened.columns,
        tuple(_write_plainly(row, numbers) for row in rows),
        tuple(numbers),
        tuple(bool(each["code"]) for each in counts),
        (*opened.list_notes(), *list_assumptions(opened.columns, numbers)),
    )


def list_assumptions(columns: Sequence[str], numbers: Sequence[NumberColumn | None]) -> list[str]:
    """Return a sentence for each column whose decimal mark nothing in its table shows."""
    marks = {
        "comma": "commas, 1.200 as 1200 and 1,200 as 1.2",
        "point": "points, 1.200 as 1.2 and 1,200 as 1200",
    }
    return [
        f"{name} may have decimal points or decimal commas; it was read with decimal "
        f"{marks[number.mark]}"
        for name, number in zip(columns, numbers, strict=True)
        if number and number.is_assumed
    ]


def _write_plainly(row: tuple[str, ...], numbers: Sequence[NumberColumn | None]) -> tuple[str, ...]:
    if all(number is None or number.is_plain for number in numbers):
        return row
    return tuple(
        number.write_plainly(cell) if number else cell
        for cell, number in zip(row, numbers, strict=True)
    )
