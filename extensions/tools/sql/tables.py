"""Describe the tables that can be queried, what loading them found, and the result of a query."""

import datetime
import math
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from pathlib import PurePath
from typing import Any, Final

from extensions.tools.sql.numbers import write_cell
from extensions.tools.sql.whole_table import TableNote
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.csv_table import split_sheet_name

MAX_ROWS = 200
MAX_CITED_ROWS = 20
MAX_CELL_CHARS = 500
MAX_RESULT_CHARS = 60_000
MAX_TABLES = 200
MAX_SAFE_INTEGER = 2**53

_RESERVED_WORD_LIST = """
add all alter analyse analyze and anti any array as asc asof asymmetric at authorization
autoincrement between binary both by case cast check collate collation column commit
concurrently constraint create cross current_date current_time current_timestamp default
deferrable delete desc describe distinct do drop else end escape except exists false fetch for
foreign freeze from full glob group having ilike in index initially inner insert intersect into
is isnull join lambda lateral leading left like limit natural not nothing notnull null offset
on only or order outer overlaps pivot pivot_longer pivot_wider placing positional primary
qualify raise references returning right select semi set show similar some summarize symmetric
table tablesample then to trailing transaction true union unique unpack unpivot update using
values variadic verbose when where window with
"""
RESERVED_WORDS = frozenset(_RESERVED_WORD_LIST.split())
"""Words that DuckDB or SQLite does not accept as a table's name without quotation marks."""

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class SqlTable:
    """A table's name, its columns, and the name by which a claim cites it."""

    name: str
    columns: tuple[str, ...]
    source: str


def name_tables(file_names: Iterable[str]) -> dict[str, str]:
    """Name a table after each file: `Revenue 2024.csv` is `revenue_2024`, a duplicate `…_2`."""
    named: dict[str, str] = {}
    for file_name in file_names:
        file, sheet = split_sheet_name(file_name)
        plain = f"{PurePath(file).stem} {sheet}".lower()
        name = Pattern(r"\W+").sub("_", plain).strip("_")
        name = f"t_{name}" if _needs_prefix(name) else name
        named[find_free_name(name, named)] = file_name
    return named


def _needs_prefix(name: str) -> bool:
    """Return whether an engine would refuse the name, or parse it as something else."""
    return not name or name[0].isdigit() or name.startswith("sqlite_") or name in RESERVED_WORDS


def find_free_name(name: str, taken: Container[str]) -> str:
    """Return the name itself, or with the first number from 2 that makes it unique."""
    if name not in taken:
        return name
    return next(f"{name}_{n}" for n in count(2) if f"{name}_{n}" not in taken)


def mentions(sql: str, name: str) -> bool:
    """Return whether a statement names a table; best effort, not a security check."""
    return Pattern(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE).search(sql) is not None


def describe_tables(tables: Sequence[SqlTable]) -> dict[str, Any]:
    """Return the tables in a form for a model."""
    shown = [
        {"table": table.name, "columns": list(table.columns), "source": table.source}
        for table in tables[:MAX_TABLES]
    ]
    if len(tables) <= MAX_TABLES:
        return {"tables": shown}
    return {"tables": shown, "cut": f"{MAX_TABLES} of {len(tables)} tables are shown"}


def describe_result(
    sql: str,
    tables: Iterable[SqlTable],
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
) -> dict[str, Any]:
    """Return a result in a form for a model; it has one row more than shown if there are more."""
    used = [table.source for table in tables if mentions(sql, table.name)]
    source = ", ".join(dict.fromkeys(used)) or "query_database"
    shown, cut = _fit_rows([[convert_cell(value) for value in row] for row in rows[:MAX_ROWS]])
    if not cut and len(rows) > MAX_ROWS:
        cut = f"only the first {MAX_ROWS} rows; aggregate, filter or use LIMIT and OFFSET"
    answer: dict[str, Any] = {
        "columns": list(columns),
        "rows": shown,
        "results": [
            {"source": source, "text": format_row(columns, row)} for row in shown[:MAX_CITED_ROWS]
        ],
    }
    return answer | ({"cut": cut} if cut else {})


def convert_cell(value: object) -> Cell:
    """Convert a value of any engine to one that JSON and a model can read."""
    match value:
        case None | bool() | str():
            return _shorten_text(value) if isinstance(value, str) else value
        case int():
            return value if abs(value) <= MAX_SAFE_INTEGER else str(value)
        case float():
            return _convert_float(value)
        case Decimal():
            near = float(value)
            return _convert_float(near) if Decimal(str(near)) == value else str(value)
        case bytes() | bytearray() | memoryview():
            return f"[{len(value)} bytes]"
        case datetime.time() if not (value.second or value.microsecond):
            return value.isoformat("minutes")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return _shorten_text(str(value))


def _convert_float(value: float) -> Cell:
    if not math.isfinite(value):
        return str(value)
    if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return float(f"{value:.15g}")


def _shorten_text(text: str) -> str:
    if len(text) <= MAX_CELL_CHARS:
        return text
    return f"{text[:MAX_CELL_CHARS]} [cut at {MAX_CELL_CHARS} of {len(text)} characters]"


def _fit_rows(rows: list[list[Cell]]) -> tuple[list[list[Cell]], str]:
    size = 0
    for n, row in enumerate(rows):
        size += sum(len(str(value)) + 4 for value in row)
        if size > MAX_RESULT_CHARS:
            return rows[
                :n
            ], f"only the first {format_count(n, 'row')}, the rest is too large; select less"
    return rows, ""


def format_row(columns: Sequence[str], row: Sequence[Cell]) -> str:
    """Return a row on a line, each value after its column; empty cells are left out."""
    pairs = zip(columns, row, strict=True)
    return "; ".join(f"{name}: {write_cell(value)}" for name, value in pairs if value is not None)


_ALL_COLUMNS: Final = Pattern(r"(?:SELECT|DISTINCT|,)\s*(?:\w+\.)?\*", re.IGNORECASE)


@dataclass
class LoadedTables:
    """By the name of each table."""

    broken: dict[str, Exception] = field(default_factory=dict)
    """Why it cannot be read; a file that is no table hides no other."""
    notes: dict[str, list[TableNote]] = field(default_factory=dict)
    """What a user should know of how it was read, and what is unusual in it."""

    def add_notes(self, table: str, source: str, notes: Iterable[TableNote]) -> None:
        """Add what a user should know of a table, under the name of its file."""
        self.notes[table] = [TableNote(f"{source}: {text}", column) for text, column in notes]

    def list_notes(self, sql: str) -> list[str]:
        """Return what a user should know of the tables and columns that a statement names."""
        takes_all = _ALL_COLUMNS.search(sql) is not None
        return [
            note.text
            for table, notes in self.notes.items()
            if mentions(sql, table)
            for note in notes
            if not note.column or takes_all or mentions(sql, note.column)
        ]


def quote_name(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def write_literal(value: Any) -> str:
    """Return a value as SQL writes it."""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, datetime.date):
        value = value.isoformat()
    return "'" + str(value).replace("'", "''") + "'"
