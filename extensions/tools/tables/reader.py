"""Read CSV tables: rows that know their line, and columns under any usual name."""

import contextlib
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Annotated

from pydantic import Field

from extensions.tools.sql.numbers import DecimalMark, detect_decimal_mark, parse_number
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.csv_table import CsvReader, CsvRecord, CsvUnreadable, is_table_name, open_csv
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.materials import resolve_material_name

MAX_ROWS = 100_000
MAX_COLUMNS = 400
MAX_LISTED_DEFECTS = 5
MAX_SHOWN_CHARS = 40
SAMPLE_ROWS = 2_000


@dataclass(frozen=True)
class CsvTable:
    """A material parsed as a table."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[CsvRecord, ...] = ()
    decimal_mark: DecimalMark = "unknown"

    def find_column(self, names: Iterable[str]) -> int | None:
        """Return the first column that has one of these names, in the order of the names."""
        plain_names = [normalize_column_name(column) for column in self.columns]
        return next((plain_names.index(name) for name in names if name in plain_names), None)

    def parse_number(self, cell: str) -> Decimal | None:
        """Parse a cell as a number, with the table's decimal mark; None if it is not a number."""
        return parse_number(cell, self.decimal_mark)


class TableDefects:
    """Defects of the files, collected so that all of them can be fixed at once."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def add_defect(self, text: str, table: CsvTable, line: int | None = None) -> None:
        """Add a defect and its place."""
        place = f" line {line}" if line else ""
        self.messages.append(f"{table.name}{place}: {text}")

    def parse_amount(
        self, table: CsvTable, row: CsvRecord, column: int, what: str
    ) -> Decimal | None:
        """Return the number in a cell; one below zero, or none at all, is a defect."""
        cell = row.cells[column]
        value = table.parse_number(cell.removesuffix("%"))
        if value is not None and value >= 0:
            return value
        problem = "not a number or is ambiguous" if value is None else "below zero"
        self.add_defect(f"{what}, {quote_cell(cell)}, is {problem}", table, row.line)
        return None

    def raise_if_any(self) -> None:
        """Refuse if there are defects.

        Raises:
            ToolRefused: names the first defects and how many there are.
        """
        if not self.messages:
            return
        named = "; ".join(self.messages[:MAX_LISTED_DEFECTS])
        more = len(self.messages) - MAX_LISTED_DEFECTS
        raise ToolRefused(f"{named}{f'; and {more} more' if more > 0 else ''}")


def read_headers(materials: Mapping[str, str] | None) -> list[CsvTable]:
    """Return the column names of each material that may be a table with two or more columns."""
    found = []
    for name, text in (materials or {}).items():
        if is_table_name(name) or name.lower().endswith(".txt"):
            with contextlib.suppress(CsvUnreadable):
                columns = _open(text).header
                if len(columns) > 1:
                    found.append(CsvTable(name, columns))
    return found


def read_table(name: str, text: str) -> CsvTable:
    """Read a table; lines that begin with `#` above the column names are comments.

    Raises:
        ToolRefused: there are no rows, or they do not fit the column names.
    """
    try:
        table = _open(text)
        _check_columns(name, table.header)
        rows = tuple(islice(table.read_rows(), MAX_ROWS + 1))
    except CsvUnreadable as error:
        raise ToolRefused(f"{name} {error}") from None
    if not rows:
        raise ToolRefused(f"{name} has column names and no rows")
    if len(rows) > MAX_ROWS:
        raise ToolRefused(f"{name} has more than {MAX_ROWS} rows; give a shorter period")
    sample = (cell for row in rows[:SAMPLE_ROWS] for cell in row.cells)
    return CsvTable(name, table.header, rows, detect_decimal_mark(sample))


def _open(text: str) -> CsvReader:
    return open_csv(io.StringIO(sanitize_text(text), newline=""))


def quote_cell(cell: str) -> str:
    """Return a cell quoted for a message, with limited length."""
    return repr(sanitize_line(cell, MAX_SHOWN_CHARS))


def normalize_column_name(column: str) -> str:
    """Normalize a column's name: `Market Value (EUR)` is `market_value`."""
    bare = Pattern(r"\([^)]{0,200}+\)").sub(" ", column).lower()
    return Pattern(r"[^a-z0-9]+").sub("_", bare).strip("_")


def _check_columns(name: str, columns: tuple[str, ...]) -> None:
    if len(columns) > MAX_COLUMNS:
        raise ToolRefused(f"{name} has {len(columns)} columns, of at most {MAX_COLUMNS}")
    twice = [column for column in columns if columns.count(column) > 1 and column]
    if twice:
        raise ToolRefused(f"{name} has the column {quote_cell(twice[0])} twice; rename or drop one")


FileNames = Annotated[
    tuple[Annotated[str, Format("file"), Field(max_length=300)], ...],
    Field(
        max_length=20,
        description="Materials to take where several have fitting columns; by default tables are "
        "found by their columns alone",
    ),
]


def find_table(
    materials: Mapping[str, str] | None,
    what: str,
    fits: Callable[[CsvTable], bool],
    files: Iterable[str] = (),
) -> CsvTable | None:
    """Return the table whose columns fit; of several, the one that is among the named files.

    Args:
        what: completes "a CSV material", such as "has columns of prices".

    Raises:
        ToolRefused: several fit, it cannot be read, or there is no file of a given name.
    """
    named = {resolve_material_name(name, materials) for name in files}
    fitting = [table.name for table in read_headers(materials) if fits(table)]
    chosen = [name for name in fitting if name in named] or fitting
    if len(chosen) > 1:
        raise ToolRefused(
            f"more than one CSV material {what}: {', '.join(chosen)}; name one of them in `files`"
        )
    return read_table(chosen[0], (materials or {})[chosen[0]]) if chosen else None


def require_table(
    materials: Mapping[str, str] | None,
    what: str,
    fits: Callable[[CsvTable], bool],
    files: Iterable[str] = (),
) -> CsvTable:
    """Do as `find_table`, and refuse if there is none.

    Raises:
        ToolRefused: as `find_table`; or no table fits.
    """
    found = find_table(materials, what, fits, files)
    if found is None:
        known = ", ".join(materials or {}) or "none"
        raise ToolRefused(f"no CSV material {what}; materials of this task: {known}")
    return found
