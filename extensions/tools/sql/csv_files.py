"""Prepare CSV texts and files for DuckDB, which is told how each is written and guesses nothing."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TextIO

import duckdb

from extensions.tools.sql.numbers import FORMS, NumberColumn, count_forms, read_number_columns
from extensions.tools.sql.tables import quote_name, write_literal
from extensions.tools.sql.whole_table import (
    TableNote,
    describe_doubles,
    describe_lacking,
    describe_negative,
    is_unusual,
    list_assumptions,
    read_whole_table,
)
from nodes.text.csv_table import CsvUnreadable, open_csv

SAMPLE_ROWS = 20_000
"""From which the types of columns are inferred."""
MAX_COPIED_BYTES = 50_000_000
MAX_WHOLE_BYTES = 1_000_000
"""Larger files of a user are left to the engine, which reads no `$1,200`."""
_ENCODINGS = {"utf-8": "utf-8-sig", "utf-16": "utf-16", "latin-1": "latin-1"}
"""As DuckDB calls them, with those of Python."""


@dataclass(frozen=True)
class CsvFile:
    """A file, and how it is written."""

    path: Path
    columns: tuple[str, ...]
    delimiter: str = ","
    skipped_lines: int = 0
    """Above the column names."""
    has_header: bool = True
    encoding: str = "utf-8"
    rows: int | None = None
    """None: the rows are not to be read."""
    number_columns: tuple[int, ...] = ()
    """Places of the columns whose first rows may be numbers with commas or groups."""
    sample_rows: int = SAMPLE_ROWS
    """From which the engine infers the types of columns; -1: all."""
    is_ragged: bool = True
    """Rows may have fewer cells than there are columns."""
    notes: tuple[TableNote, ...] = ()


def write_material(text: str, path: Path) -> CsvFile:
    """Write a material to a file as DuckDB reads it best, its numbers with decimal points.

    Raises:
        CsvUnreadable: the text is no table, or some of its rows do not fit.
    """
    table = read_whole_table(text)
    with _create(path) as file:
        _write_rows(file, table.rows)
    return CsvFile(
        path,
        table.columns,
        rows=len(table.rows),
        has_header=False,
        sample_rows=-1,
        notes=table.notes,
    )


def read_file(path: Path) -> str:
    """Return the text of a user's file."""
    raw = path.read_bytes()
    if _is_wide(raw):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def inspect_file(path: Path, *, with_rows: bool) -> CsvFile:
    """Return how a user's file is written; without its rows only the column names are read.

    Raises:
        CsvUnreadable: it is no table, or some of its rows do not fit.
        OSError: it cannot be read.
    """
    found = path.stat()
    return _inspect(path, found.st_mtime_ns, found.st_size, with_rows)


def load_file(
    base: duckdb.DuckDBPyConnection, table: str, file: CsvFile, copy: Path
) -> tuple[TableNote, ...]:
    """Create a table of a user's file, as `load_csv` does.

    Args:
        copy: where to write the file plainly if the engine does not read all rows of it as it is.
    """
    try:
        return load_csv(base, table, file)
    except (duckdb.Error, CsvUnreadable):
        if file.path.stat().st_size > MAX_COPIED_BYTES:
            raise
    with _open(file.path, file.encoding) as lines, _create(copy) as written:
        rows = (record.cells for record in open_csv(lines).read_rows())
        csv.writer(
            written, delimiter=file.delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n"
        ).writerows(rows)
    base.execute(f"DROP TABLE IF EXISTS {quote_name(table)}")
    copied = replace(
        file, path=copy, is_ragged=True, skipped_lines=0, has_header=False, encoding="utf-8"
    )
    return load_csv(base, table, copied)


def load_csv(base: duckdb.DuckDBPyConnection, table: str, file: CsvFile) -> tuple[TableNote, ...]:
    """Create a table of a file's rows; return what a user should know of how it was read.

    Raises:
        CsvUnreadable: the engine reads other rows than there are.
        duckdb.Error: the engine cannot read the file.
    """
    if not file.rows:
        columns = ", ".join(f"{quote_name(name)} VARCHAR" for name in file.columns)
        base.execute(f"CREATE TABLE {quote_name(table)} ({columns})")
        return file.notes
    numbers = _read_numbers(file)
    rewritten = {
        name: number
        for name, number in numbers.items()
        if number.has_missing or not number.is_plain
    }
    values = ", ".join(_write_value(name, rewritten.get(name)) for name in file.columns)
    create = f"CREATE TABLE {quote_name(table)} AS SELECT {values} FROM "
    fractional = [
        name for name, forms in _pair_forms(file) if name in numbers and forms.keys() - {"whole"}
    ]
    # The engine would round 2500.5 in a column that begins with whole numbers.
    types = dict.fromkeys(fractional, "DOUBLE") | dict.fromkeys(rewritten, "VARCHAR")
    try:
        base.execute(create + _write_source(file, types, file.sample_rows))
    except duckdb.ConversionException:  # a later row has a cell of another type
        base.execute(create + _write_source(file, types, -1))
    found = base.execute(f"SELECT count(*) FROM {quote_name(table)}").fetchall()[0][0]
    if file.rows != found:
        raise CsvUnreadable(f"has {file.rows} rows, of which {found} can be read")
    return (*file.notes, *list_assumptions(list(numbers), list(numbers.values())))


def count_defects(base: duckdb.DuckDBPyConnection, table: str) -> list[TableNote]:
    """Return what is unusual in a large table, counted: no cell and no row is named."""
    columns = base.execute(f"DESCRIBE {quote_name(table)}").fetchall()
    names = [name for name, kind, *_ in columns if kind in ("BIGINT", "DOUBLE")]
    counted = [f"count({quote_name(n)}), count(*) FILTER ({quote_name(n)} < 0)" for n in names]
    select = ", ".join(["count(*)", "count(DISTINCT hash(each))", *counted])
    try:
        found = base.execute(f"SELECT {select} FROM {quote_name(table)} AS each").fetchall()[0]
    except duckdb.OutOfMemoryException:
        return [TableNote("too large to look for repeated rows and cells without a number")]
    rows, different, *counts = found
    notes = [describe_doubles(rows - different)] if rows > different else []
    for name, filled, negative in zip(names, counts[::2], counts[1::2], strict=True):
        if filled < rows:
            notes.append(describe_lacking(name, rows - filled, rows))
        if is_unusual(negative, filled):
            notes.append(describe_negative(name))
    return notes


def _is_wide(raw: bytes) -> bool:
    return raw[:2] in (b"\xff\xfe", b"\xfe\xff")


def _open(path: Path, encoding: str) -> TextIO:
    return path.open(encoding=_ENCODINGS[encoding], newline="")


def _write_rows(file: TextIO, rows: Iterable[Sequence[str]], delimiter: str = ",") -> None:
    # DuckDB cannot read a file that has line breaks of two kinds.
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows(rows)


def _create(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", errors="replace", newline="")


@lru_cache(maxsize=256)
def _inspect(path: Path, changed_ns: int, size: int, with_rows: bool) -> CsvFile:
    """Return what `inspect_file` does, once for each version of a file."""
    with path.open("rb") as file:
        encoding = "utf-16" if _is_wide(file.read(2)) else "utf-8"
    try:
        return _read(path, encoding, with_rows)
    except UnicodeDecodeError:
        return _read(path, "latin-1", with_rows)


def _read(path: Path, encoding: str, with_rows: bool) -> CsvFile:
    with _open(path, encoding) as lines:
        opened = open_csv(lines)
        sample = [row.cells for row in islice(opened.read_rows(), SAMPLE_ROWS * with_rows)]
    found = CsvFile(
        path,
        opened.columns,
        opened.delimiter,
        skipped_lines=opened.skipped_lines,
        encoding=encoding,
    )
    if not with_rows:
        return found
    with _open(path, encoding) as lines:
        opened = open_csv(lines)
        rows = opened.count_rows()
    counts = [count_forms(cells) for cells in zip(*sample, strict=True)]
    places = [n for n, number in enumerate(read_number_columns(counts, ",")) if number]
    return replace(
        found,
        rows=rows,
        number_columns=tuple(places),
        is_ragged=bool(opened.short_lines),
        notes=tuple(map(TableNote, opened.list_notes())),
    )


def _read_numbers(file: CsvFile) -> dict[str, NumberColumn]:
    """Return how the columns of numbers are written that are to be checked."""
    names, counts = zip(*_pair_forms(file), strict=True) if file.number_columns else ((), ())
    numbers = read_number_columns(counts, file.delimiter)
    return {name: number for name, number in zip(names, numbers, strict=True) if number}


def _pair_forms(file: CsvFile) -> list[tuple[str, dict[str, int]]]:
    """Return the columns of numbers to check, each with how many cells have which form."""
    names = [file.columns[place] for place in file.number_columns]
    return list(zip(names, _count_forms(file) if names else (), strict=True))


@lru_cache(maxsize=256)
def _count_forms(file: CsvFile) -> list[dict[str, int]]:
    """Return how many cells of each column to check have each form of `FORMS`, in all rows."""
    values = [quote_name(file.columns[place]) for place in file.number_columns]
    select = ", ".join(f"histogram({_write_form(value)})" for value in values)
    source = _write_source(file, dict.fromkeys(file.columns, "VARCHAR"), file.sample_rows)
    with duckdb.connect(":memory:") as base:
        counted = base.execute(f"SELECT {select} FROM {source}").fetchall()[0]
    return [counts or {} for counts in counted]


def _write_form(value: str) -> str:
    """Return SQL for the form of a number; NULL for an empty cell."""
    bare = f"trim({value})"
    forms = " ".join(
        f"WHEN regexp_full_match({bare}, {write_literal(pattern)}) THEN {write_literal(form)}"
        for form, pattern in FORMS.items()
    )
    return f"CASE WHEN {bare} IS NULL OR {bare} = '' THEN NULL {forms} ELSE 'other' END"


def _write_value(name: str, number: NumberColumn | None) -> str:
    value = quote_name(name)
    if number is None:
        return value
    plain = f"replace(trim({value}), '.', '')" if number.mark == "comma" else f"trim({value})"
    with_point = f"replace({plain}, ',', {write_literal('.' if number.mark == 'comma' else '')})"
    number_or_null = f"CAST(nullif({with_point}, '') AS DOUBLE)"
    return (
        f"CASE {_write_form(value)} WHEN 'missing' THEN NULL ELSE {number_or_null} END AS {value}"
    )


def _write_source(file: CsvFile, types: Mapping[str, str], sample_rows: int) -> str:
    """Return the part of a statement that reads a file's rows, without empty ones."""
    typed = ", ".join(
        f"{write_literal(name)}: {write_literal(kind)}" for name, kind in types.items()
    )
    options = [
        f"read_csv({write_literal(str(file.path))}",
        f"delim = {write_literal(file.delimiter)}",
        "quote = '\"', escape = '\"', comment = ''",
        f"header = {str(file.has_header).lower()}",
        f"skip = {file.skipped_lines}",
        f"encoding = '{file.encoding}'",
        "strict_mode = true",
        # With both, DuckDB refuses quoted line breaks.
        "null_padding = true, parallel = false" if file.is_ragged else "null_padding = false",
        f"names = [{', '.join(map(write_literal, file.columns))}]",
        f"sample_size = {sample_rows}",
        *([f"types = {{{typed}}}"] if typed else []),
    ]
    cells = ", ".join(map(quote_name, file.columns))
    # In a file of ours no row was empty, but all that one holds may say that there is no number.
    filled = f" WHERE trim(concat({cells}), e' \\t\\r\\n') <> ''" if file.has_header else ""
    return f"{', '.join(options)}){filled}"
