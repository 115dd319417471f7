"""Read files with DuckDB, locked down before the statement runs."""

import contextlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb

from nodes.limits.patterns import Pattern
from nodes.tools.sql.location import DatabaseLocation, list_data_files
from nodes.tools.sql.tables import MAX_ROWS, SqlTable, mentions, name_tables

MEMORY_LIMIT = "512MB"
THREADS = 2
_ANALYZE = Pattern(r"analy[sz]e", re.IGNORECASE)


@contextlib.contextmanager
def connect(
    location: DatabaseLocation, materials: Mapping[str, str], sql: str
) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, Exception]]]:
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
        # The files are removed before the statement runs: it may end with a kill.
        with tempfile.TemporaryDirectory() as folder:
            broken = _load_files(base, _map_tables_to_files(location, materials, Path(folder)), sql)
        if location.engine == "duckdb":
            target = location.target.replace("'", "''")
            base.execute(f"ATTACH '{target}' AS source (READ_ONLY)")
            base.execute("SET search_path = 'memory.main,source.main'")
        base.execute("SET temp_directory = ''")
        base.execute("SET enable_external_access = false")
        base.execute("SET lock_configuration = true")
        yield base, broken


def list_tables(
    base: duckdb.DuckDBPyConnection, location: DatabaseLocation, materials: Mapping[str, str]
) -> list[SqlTable]:
    """Return what is loaded, with the file of each table."""
    sources = {
        name: source
        for name, (source, _) in _map_tables_to_files(location, materials, None).items()
    }
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
    base.execute(statements[0])
    columns = [column[0] for column in base.description or ()]
    rows: list[Sequence[object]] = list(base.fetchmany(MAX_ROWS + 1))
    return columns, rows


def _map_tables_to_files(
    location: DatabaseLocation, materials: Mapping[str, str], folder: Path | None
) -> dict[str, tuple[str, Path]]:
    """Name the tables: materials first, then files; a used name is not used again."""
    files: dict[str, tuple[str, Path]] = {}
    for n, (table, name) in enumerate(name_tables(materials).items()):
        path = (folder or Path()) / f"{n}.csv"
        if folder is not None:
            path.write_text(materials[name], encoding="utf-8", errors="replace")
        files[table] = (name, path)
    if location.engine == "files":
        paths = {path.name: path for path in list_data_files(location.target)}
        for table, name in name_tables(paths).items():
            files.setdefault(table, (name, paths[name]))
    return files


def _load_files(
    base: duckdb.DuckDBPyConnection, files: Mapping[str, tuple[str, Path]], sql: str
) -> dict[str, Exception]:
    broken: dict[str, Exception] = {}
    for table, (_, path) in files.items():
        if not sql or mentions(sql, table):
            try:
                _load_file(base, table, path, rows=None if sql else 0)
            except duckdb.Error as error:
                broken[table] = error
    return broken


def _load_file(
    base: duckdb.DuckDBPyConnection, table: str, path: Path, *, rows: int | None
) -> None:
    reader = "read_parquet" if path.suffix.lower() == ".parquet" else "read_csv"
    options = "" if reader == "read_parquet" else ", header = true, sample_size = 20000"
    limit = "" if rows is None else f" LIMIT {rows}"
    name, file = table.replace('"', '""'), str(path).replace("'", "''")
    base.execute(f"CREATE TABLE \"{name}\" AS SELECT * FROM {reader}('{file}'{options}){limit}")
