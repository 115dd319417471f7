"""Prepare CSV texts and files for DuckDB, which is told how each is written and guesses nothing."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

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
"""From which the columns of numbers of a large file are inferred."""
MAX_WHOLE_CHARS = 1_000_000
"""Of a larger file of a user the engine finds the numbers, and reads no `$1,200`."""

MAX_FILE_BYTES = 500_000_000
"""Of a user's file, whose copy may have no more either."""
_CHUNK_CHARS = 1_000_000


def read_file(path: Path, max_bytes: int = -1) -> str:
    """Return the text of a user's file, or of its first lines."""
    with path.open("rb") as file:
        raw = file.read(max_bytes)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", errors="replace")
    if len(raw) == max_bytes:
        raw = raw[: raw.rfind(b"\n") + 1]
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def find_encoding(path: Path) -> str:
    """Return how a user's file is written, as `read_file` finds it."""
    with path.open("rb") as raw:
        if raw.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            while file.read(_CHUNK_CHARS):
                pass
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def load_columns(base: duckdb.DuckDBPyConnection, table: str, text: str) -> None:
    """Create an empty table with the columns of a CSV text.

    Raises:
        CsvUnreadable: the text is no table.
    """
    _create_table(base, table, open_csv(io.StringIO(text, newline="")).columns)


def load_text(
    base: duckdb.DuckDBPyConnection, table: str, text: str, copy: Path
) -> Sequence[TableNote]:
    """Create a table of a CSV text; return what a user should know of how it was read.

    Args:
        copy: where to write it as DuckDB reads it best, its numbers with decimal points.

    Raises:
        CsvUnreadable: the text is no table, or some of its rows do not fit.
        duckdb.Error: the engine cannot read it.
    """
    read = read_whole_table(text)
    _write_copy(copy, read.rows)
    _create_table(base, table, read.columns, copy if read.rows else None)
    return read.notes


def load_file(
    base: duckdb.DuckDBPyConnection, table: str, path: Path, copy: Path
) -> Sequence[TableNote]:
    """Do as `load_large_text` with a user's file, of which a large one is not read whole."""
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise CsvUnreadable(f"has more than {MAX_FILE_BYTES / 1e6:g} MB; save it as Parquet")
    if size <= 4 * MAX_WHOLE_CHARS:
        return load_large_text(base, table, read_file(path), copy)
    with path.open(encoding=find_encoding(path), errors="replace", newline="") as file:
        return _load_lines(base, table, file, copy)


def load_large_text(
    base: duckdb.DuckDBPyConnection, table: str, text: str, copy: Path
) -> Sequence[TableNote]:
    """Do as `load_text`, and leave the numbers to the engine where the text is large."""
    if len(text) <= MAX_WHOLE_CHARS:
        return load_text(base, table, text, copy)
    return _load_lines(base, table, io.StringIO(text, newline=""), copy)


def _load_lines(
    base: duckdb.DuckDBPyConnection, table: str, lines: Iterable[str], copy: Path
) -> Sequence[TableNote]:
    opened = open_csv(lines)
    rows = (record.cells for record in opened.read_rows())
    sample = list(islice(rows, SAMPLE_ROWS))
    counts = [count_forms(cells) for cells in zip(*sample, strict=True)]
    written = _write_copy(copy, chain(sample, rows))
    names = [
        name
        for name, number in zip(opened.columns, read_number_columns(counts, ","), strict=False)
        if number
    ]
    forms = _count_forms(base, opened.columns, names, copy) if names else []
    numbers = {
        name: number
        for name, number in zip(names, read_number_columns(forms, opened.delimiter), strict=True)
        if number
    }
    # The engine would round 2500.5 in a column that begins with whole numbers.
    fractional = {
        name: "DOUBLE"
        for name, found in zip(names, forms, strict=True)
        if name in numbers and found.keys() - {"whole"}
    }
    _create_table(base, table, opened.columns, copy if written else None, numbers, fractional)
    if written != base.execute(f"SELECT count(*) FROM {quote_name(table)}").fetchall()[0][0]:
        raise CsvUnreadable(f"has {written} rows, of which not all can be read")
    notes = [TableNote(note) for note in opened.list_notes()]
    notes += list_assumptions(list(numbers), list(numbers.values()))
    return [*notes, *_count_defects(base, table)]


def _count_defects(base: duckdb.DuckDBPyConnection, table: str) -> list[TableNote]:
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


def _write_copy(path: Path, rows: Iterable[Sequence[str]]) -> int:
    """Write rows as DuckDB reads them best, and return how many there are."""
    count = 0
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        # DuckDB cannot read a file that has line breaks of two kinds.
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for row in rows:
            writer.writerow(row)
            count += 1
    return count


def _create_table(
    base: duckdb.DuckDBPyConnection,
    table: str,
    columns: Sequence[str],
    copy: Path | None = None,
    numbers: Mapping[str, NumberColumn] | None = None,
    types: Mapping[str, str] | None = None,
) -> None:
    """Create a table of a copy, or an empty one.

    Args:
        numbers: how columns of numbers are written that may have other marks than a point.
        types: of columns whose type is not inferred.
    """
    if copy is None:
        empty = ", ".join(f"{quote_name(name)} VARCHAR" for name in columns)
        base.execute(f"CREATE TABLE {quote_name(table)} ({empty})")
        return
    rewritten = {
        name: number
        for name, number in (numbers or {}).items()
        if number.has_missing or not number.is_plain
    }
    values = ", ".join(
        _write_number(name, rewritten[name]) if name in rewritten else quote_name(name)
        for name in columns
    )
    source = _write_source(copy, columns, {**(types or {}), **dict.fromkeys(rewritten, "VARCHAR")})
    base.execute(f"CREATE TABLE {quote_name(table)} AS SELECT {values} FROM {source}")


def _count_forms(
    base: duckdb.DuckDBPyConnection, columns: Sequence[str], names: Sequence[str], copy: Path
) -> list[dict[str, int]]:
    """Return how many cells of some columns have each form of `FORMS`, in all rows."""
    select = ", ".join(f"histogram({_write_form(quote_name(name))})" for name in names)
    source = _write_source(copy, columns, dict.fromkeys(columns, "VARCHAR"))
    return [found or {} for found in base.execute(f"SELECT {select} FROM {source}").fetchall()[0]]


def _write_form(value: str) -> str:
    """Return SQL for the form of a number; NULL for an empty cell."""
    forms = " ".join(
        f"WHEN regexp_full_match({value}, {write_literal(pattern)}) THEN {write_literal(form)}"
        for form, pattern in FORMS.items()
    )
    return f"CASE WHEN {value} IS NULL OR {value} = '' THEN NULL {forms} ELSE 'other' END"


def _write_number(name: str, number: NumberColumn) -> str:
    value = quote_name(name)
    plain = f"replace({value}, '.', '')" if number.mark == "comma" else value
    with_point = f"replace({plain}, ',', {write_literal('.' if number.mark == 'comma' else '')})"
    number_or_null = f"CAST(nullif({with_point}, '') AS DOUBLE)"
    return (
        f"CASE {_write_form(value)} WHEN 'missing' THEN NULL ELSE {number_or_null} END AS {value}"
    )


def _write_source(copy: Path, columns: Sequence[str], types: Mapping[str, str]) -> str:
    """Return the part of a statement that reads a copy."""
    typed = ", ".join(
        f"{write_literal(name)}: {write_literal(kind)}" for name, kind in types.items()
    )
    options = [
        f"read_csv({write_literal(str(copy))}, delim = ',', quote = '\"', escape = '\"'",
        "comment = '', header = false, strict_mode = true, sample_size = -1",
        f"names = [{', '.join(map(write_literal, columns))}]",
        *([f"types = {{{typed}}}"] if typed else []),
    ]
    return f"{', '.join(options)})"
