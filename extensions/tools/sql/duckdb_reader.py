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
    MAX_COPIED_BYTES,
    MAX_WHOLE_BYTES,
    count_defects,
    inspect_file,
    load_csv,
    load_file,
    read_file,
    write_material,
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

MEMORY_LIMIT = "512MB"
THREADS = 2
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
    base: duckdb.DuckDBPyConnection, sql: str
) -> tuple[list[str], list[Sequence[object]]]:
    """Run one reading statement; returns at most one row more than is shown.

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
    found: dict[str, str] = parse_document(path.suffix.lower(), MAX_COPIED_BYTES, path=str(path))[
        "sheets"
    ]
    return found


def _write_sheet(path: Path, part: str, written: Path) -> None:
    sheets = _read_sheets(path)
    if not sheets or is_cut(sheets[part]):
        cause = f"has more than {MAX_COPIED_BYTES / 1e6:g} MB of text; save it as CSV"
        raise CsvUnreadable(cause if sheets else "has no cell that holds something")
    written.write_text(sheets[part], encoding="utf-8", errors="replace", newline="")


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
            written = Path(folder) / f"{n}.csv"
            if sql and not mentions(sql, table):
                continue
            try:
                if path and path.suffix.lower() == ".parquet":
                    _load_parquet(base, table, path, with_rows=bool(sql))
                    continue
                if path and path.suffix.lower() in WORKBOOK_SUFFIXES:
                    _write_sheet(path, name.removeprefix(path.name), written)
                    path, written = written, Path(folder) / f"{n}.copy.csv"
                if path:
                    notes = _load_file(base, table, path, written, with_rows=bool(sql))
                else:
                    notes = load_csv(base, table, write_material(materials[name], written))
                loaded.add_notes(table, name, notes)
            except CsvUnreadable as error:
                loaded.broken[table] = CsvUnreadable(f"{name} {error}")
            except (duckdb.Error, OSError, ToolRefused) as error:
                cause = str(error).partition("\n")[0].replace(str(path), name)
                loaded.broken[table] = CsvUnreadable(f"{name} cannot be read: {cause}")
    return loaded


def _load_file(
    base: duckdb.DuckDBPyConnection, table: str, path: Path, written: Path, *, with_rows: bool
) -> Sequence[TableNote]:
    if with_rows and path.stat().st_size <= MAX_WHOLE_BYTES:
        return load_csv(base, table, write_material(read_file(path), written))
    notes = load_file(base, table, inspect_file(path, with_rows=with_rows), written)
    return [*notes, *(count_defects(base, table) if with_rows else ())]


def _load_parquet(
    base: duckdb.DuckDBPyConnection, table: str, path: Path, *, with_rows: bool
) -> None:
    source = f"read_parquet({write_literal(path)})" + " LIMIT 0" * (not with_rows)
    base.execute(f"CREATE TABLE {quote_name(table)} AS SELECT * FROM {source}")
