"""Tables that came as CSV: rows that know their line, and columns under any usual name."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.plain_text import plain, plain_line
from nodes.tools.tables.numbers import Mark, decimal_mark, number

MAX_ROWS = 100_000
MAX_COLUMNS = 400
MAX_NAMED_DEFECTS = 5
MAX_SHOWN_CHARS = 40
SAMPLE_ROWS = 2_000
_DELIMITERS = ",;\t|"
_SUFFIXES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class Row:
    """A record and the line of the file it ends on."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A material read as a table."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    mark: Mark = "unknown"

    def column(self, names: Iterable[str]) -> int | None:
        """Find the first column that bears one of these names, by their order."""
        plain_names = [plain_name(column) for column in self.columns]
        return next((plain_names.index(name) for name in names if name in plain_names), None)

    def number(self, cell: str) -> Decimal | None:
        """Read a cell as a number, by the mark this table writes; None when it is none."""
        return number(cell, self.mark)


class Defects:
    """What is wrong with the files, collected so that all of it can be mended at once."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, text: str, table: Table, line: int | None = None) -> None:
        """Note a defect where it stands."""
        place = f" line {line}" if line else ""
        self.found.append(f"{table.name}{place}: {text}")

    def check(self) -> None:
        """Refuse when there is any.

        Raises:
            ToolRefused: names the first of them and how many there are.
        """
        if not self.found:
            return
        named = "; ".join(self.found[:MAX_NAMED_DEFECTS])
        more = len(self.found) - MAX_NAMED_DEFECTS
        raise ToolRefused(f"{named}{f'; and {more} more' if more > 0 else ''}")


def heads(materials: Mapping[str, str] | None) -> list[Table]:
    """Give the column names of each material that may be a table; those with fewer than two not."""
    found = []
    for name, text in (materials or {}).items():
        if name.lower().endswith(_SUFFIXES):
            first = next((line for line in text.splitlines() if _counts(line)), "")
            columns = _columns(first)
            if len(columns) > 1:
                found.append(Table(name, columns))
    return found


def read_table(name: str, text: str) -> Table:
    """Read a table; lines that begin with `#` above the column names are remarks.

    Raises:
        ToolRefused: there are no rows, or they do not fit the column names.
    """
    lines = plain(text).split("\n")
    skipped = next((n for n, line in enumerate(lines) if _counts(line)), len(lines))
    columns = _columns(lines[skipped]) if skipped < len(lines) else ()
    if not columns:
        raise ToolRefused(f"{name} is empty; give a CSV file with column names in its first line")
    _check_columns(name, columns)
    rows = _rows(name, lines[skipped:], skipped, len(columns))
    if not rows:
        raise ToolRefused(f"{name} has column names and no rows")
    sample = (cell for row in rows[:SAMPLE_ROWS] for cell in row.cells)
    return Table(name, columns, rows, decimal_mark(sample))


def shown(cell: str) -> str:
    """Quote a cell in a message, at a bounded length."""
    return repr(plain_line(cell, MAX_SHOWN_CHARS))


def plain_name(column: str) -> str:
    """Reduce a column's name to what people agree on: `Market Value (EUR)` is `market_value`."""
    bare = Pattern(r"\([^)]{0,200}+\)").sub(" ", column).lower()
    return Pattern(r"[^a-z0-9]+").sub("_", bare).strip("_")


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip("\ufeff ").startswith("#")


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


def _columns(line: str) -> tuple[str, ...]:
    try:
        cells = next(csv.reader([plain(line)], delimiter=_delimiter(line)), [])
    except csv.Error:
        return ()
    return tuple(cell.strip() for cell in cells)


def _check_columns(name: str, columns: tuple[str, ...]) -> None:
    if len(columns) > MAX_COLUMNS:
        raise ToolRefused(f"{name} has {len(columns)} columns, of at most {MAX_COLUMNS}")
    twice = [column for column in columns if columns.count(column) > 1 and column]
    if twice:
        raise ToolRefused(f"{name} has the column {shown(twice[0])} twice; rename or drop one")


def _rows(name: str, lines: list[str], skipped: int, width: int) -> tuple[Row, ...]:
    reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=_delimiter(lines[0]), strict=True)
    found = []
    try:
        next(reader)
        for cells in islice(reader, MAX_ROWS + 1):
            if not any(cell.strip() for cell in cells):
                continue
            line = skipped + reader.line_num
            if len(cells) > width and any(cell.strip() for cell in cells[width:]):
                raise ToolRefused(
                    f"{name} line {line} has {len(cells)} cells under {width} column names; a "
                    "comma inside a cell needs quotes around it"
                )
            padded = [cell.strip() for cell in cells[:width]] + [""] * (width - len(cells))
            found.append(Row(line, tuple(padded)))
    except csv.Error as error:
        line = skipped + reader.line_num
        raise ToolRefused(f"{name} line {line} cannot be read: {error}") from None
    if len(found) > MAX_ROWS:
        raise ToolRefused(f"{name} has more than {MAX_ROWS} rows; give a shorter period")
    return tuple(found)
