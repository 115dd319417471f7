"""Read files with DuckDB, locked down before the statement runs."""

import contextlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import duckdb

from extensions.tools.documents.parser import parse_document
from extensions.tools.sql.csv_files import (
    MAX_WHOLE_CHARS,
    load_columns,
    load_file,
    load_large_text,
    load_text,
    read_file,
)
from extensions.tools.sql.location import DatabaseLocation, list_data_files
from extensions.tools.sql.tables import (
    MAX_ROWS,
    LoadedTables,
    SqlTable,
    mentions,
    name_tables,
    quote_name,
    write_literal,
)
from extensions.tools.sql.whole_table import TableNote
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.csv_table import CsvUnreadable
from nodes.tools.framework.document_kinds import WORKBOOK_SUFFIXES
from nodes.tools.framework.documents import is_cut

ERRORS = (duckdb.Error,)
MEMORY_LIMIT = "512MB"
THREADS = 2
MAX_SHEET_CHARS = 50_000_000
_ANALYZE = Pattern(r"analy[sz]e", re.IGNORECASE)


@contextlib.contextmanager
def connect(
    location: DatabaseLocation, materials: Mapping[str, str], sql: str
) -> Iterator[tuple[duckdb.DuckDBPyConnection, LoadedTables]]:
    """Load what the statement mentions into memory; without a statement, the columns of all.

    A file that is not a table does not hide others: it is returned with its error.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY_LIMIT,
        "threads": THREADS,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(":memory:", config=config) as base:
        loaded = _load_tables(base, location, materials, sql)
        if location.engine == "duckdb":
            base.execute(f"ATTACH {write_literal(location.target)} AS source (READ_ONLY)")
            base.execute("SET search_path = 'memory.main,source.main'")
        base.execute("SET temp_directory = ''")
        base.execute("SET enable_external_access = false")
        base.execute("SET lock_configuration = true")
        yield base, loaded


def list_tables(
    base: duckdb.DuckDBPyConnection, location: DatabaseLocation, materials: Mapping[str, str]
) -> list[SqlTable]:
    """Return what is loaded, with the file of each table."""
    sources = {table: name for table, (name, _) in _list_sources(location, materials).items()}
    found = base.execute(
        "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns() "
        "WHERE NOT internal GROUP BY database_name, schema_name, table_name ORDER BY 1"
    ).fetchall()
    return [SqlTable(name, tuple(columns), sources.get(name, name)) for name, columns in found]


def run_query(
    base: duckdb.DuckDBPyConnection, sql: str, timeout_s: float
) -> tuple[list[str], list[Sequence[object]]]:
    """Run one reading statement; returns at most one row more than is shown.

    Args:
        timeout_s: not known to the engine; the process ends when it is over.

    Raises:
        duckdb.Error: not one reading statement, or wrong.
    """
    statements = base.extract_statements(sql)
    readings = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    if len(statements) != 1 or statements[0].type not in readings:
        raise duckdb.InvalidInputException("only one SELECT statement is allowed")
    if statements[0].type == duckdb.StatementType.EXPLAIN and _ANALYZE.search(sql):
        raise duckdb.InvalidInputException("EXPLAIN ANALYZE is not allowed")
    base.execute("BEGIN TRANSACTION READ ONLY")
    try:
        base.execute(statements[0])
        columns = [column[0] for column in base.description or ()]
        rows: list[Sequence[object]] = list(base.fetchmany(MAX_ROWS + 1))
    finally:
        base.execute("ROLLBACK")
    return columns, rows


def _list_sources(
    location: DatabaseLocation, materials: Mapping[str, str]
) -> dict[str, tuple[str, Path | None]]:
    """Name the tables: materials first, then files; a used name is not used again."""
    sources: dict[str, tuple[str, Path | None]] = {
        table: (name, None) for table, name in name_tables(materials).items()
    }
    if location.engine == "files":
        paths = {
            path.name + part: path
            for path in list_data_files(location.target)
            for part in _list_parts(path)
        }
        for table, name in name_tables(paths).items():
            sources.setdefault(table, (name, paths[name]))
    return sources


def _list_parts(path: Path) -> Iterable[str]:
    """Return what follows a file's name for each of its tables: the sheets of a workbook."""
    if path.suffix.lower() in WORKBOOK_SUFFIXES:
        with contextlib.suppress(ToolRefused, OSError):  # loading it finds the reason again
            return _read_sheets(path)
    return ("",)


@lru_cache(maxsize=16)
def _read_sheets(path: Path) -> dict[str, str]:
    """Return a workbook's sheets as CSV texts; read once, as this process answers one call."""
    found: dict[str, str] = parse_document(path.suffix.lower(), MAX_SHEET_CHARS, path=str(path))[
        "sheets"
    ]
    return found


def _load_file(
    base: duckdb.DuckDBPyConnection,
    table: str,
    path: Path,
    part: str,
    copy: Path,
    *,
    with_rows: bool,
) -> Sequence[TableNote]:
    """Create a table of a CSV file or of a sheet, or only its columns."""
    is_sheet = path.suffix.lower() in WORKBOOK_SUFFIXES
    if not with_rows:
        text = _read_sheet(path, part) if is_sheet else read_file(path, MAX_WHOLE_CHARS)
        load_columns(base, table, text)
        return ()
    if is_sheet:
        return load_large_text(base, table, _read_sheet(path, part), copy)
    return load_file(base, table, path, copy)


def _read_sheet(path: Path, part: str) -> str:
    """Return the text of a sheet."""
    sheets = _read_sheets(path)
    if not sheets or is_cut(sheets[part]):
        cause = f"has more than {MAX_SHEET_CHARS / 1e6:g} MB of text; save it as CSV"
        raise CsvUnreadable(cause if sheets else "has no cell that holds something")
    return sheets[part]


def _load_tables(
    base: duckdb.DuckDBPyConnection,
    location: DatabaseLocation,
    materials: Mapping[str, str],
    sql: str,
) -> LoadedTables:
    loaded = LoadedTables()
    # The files are removed before the statement runs: it may end with a kill.
    with tempfile.TemporaryDirectory() as folder:
        for n, (table, (name, path)) in enumerate(_list_sources(location, materials).items()):
            copy = Path(folder) / f"{n}.csv"
            if sql and not mentions(sql, table):
                continue
            try:
                if path is None:
                    loaded.add_notes(table, name, load_text(base, table, materials[name], copy))
                elif path.suffix.lower() == ".parquet":
                    _load_parquet(base, table, path, with_rows=bool(sql))
                else:
                    part = name.removeprefix(path.name)
                    notes = _load_file(base, table, path, part, copy, with_rows=bool(sql))
                    loaded.add_notes(table, name, notes)
            except CsvUnreadable as error:
                loaded.broken[table] = CsvUnreadable(f"{name} {error}")
            except (duckdb.Error, OSError, ToolRefused) as error:
                cause = str(error).partition("\n")[0].replace(str(path), name)
                loaded.broken[table] = CsvUnreadable(f"{name} cannot be read: {cause}")
            except MemoryError:
                cause = "it needs more memory than there is; save it as Parquet"
                loaded.broken[table] = CsvUnreadable(f"{name} cannot be read: {cause}")
            finally:  # the copies of all tables together may fill the disk
                copy.unlink(missing_ok=True)
    return loaded


def _load_parquet(
    base: duckdb.DuckDBPyConnection, table: str, path: Path, *, with_rows: bool
) -> None:
    source = f"read_parquet({write_literal(path)})" + " LIMIT 0" * (not with_rows)
    base.execute(f"CREATE TABLE {quote_name(table)} AS SELECT * FROM {source}")
