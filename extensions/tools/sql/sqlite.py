"""Read SQLite: an authorizer, limits and a deadline apply, whatever the statement."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from extensions.tools.sql.location import DatabaseLocation
from extensions.tools.sql.tables import MAX_ROWS, LoadedTables, SqlTable, name_tables, quote_name
from extensions.tools.sql.whole_table import TableNote, read_whole_table
from nodes.text.csv_table import CsvUnreadable

ERRORS = (sqlite3.Error, sqlite3.Warning)
_ALLOWED_ACTIONS = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
)
_CATALOGUES = frozenset(
    {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"}
)
_FORBIDDEN_FUNCTIONS = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "sqlite_log"}
)


@contextlib.contextmanager
def connect(
    location: DatabaseLocation, materials: Mapping[str, str], sql: str
) -> Iterator[tuple[sqlite3.Connection, LoadedTables]]:
    """Open the file read-only beside an in-memory database that holds the CSV materials.

    One that is not a table does not hide others: it is returned with its error.
    """
    loaded = LoadedTables()
    with contextlib.closing(sqlite3.connect("file::memory:", uri=True)) as base:
        for table, name in name_tables(materials).items():
            try:
                loaded.add_notes(table, name, _load_csv(base, table, materials[name]))
            except (sqlite3.Error, CsvUnreadable) as error:
                loaded.broken[table] = CsvUnreadable(f"{name} {error}")
        base.commit()
        base.execute("ATTACH ? AS source", (f"{Path(location.target).as_uri()}?mode=ro",))
        yield base, loaded


def list_tables(
    base: sqlite3.Connection, location: DatabaseLocation, materials: Mapping[str, str]
) -> list[SqlTable]:
    """Return the user's tables and views, materials first."""
    sources = name_tables(materials)
    found = base.execute(
        "SELECT 'main', name FROM main.sqlite_master WHERE type IN ('table', 'view') "
        "UNION ALL SELECT 'source', name FROM source.sqlite_master "
        "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    listed = list[SqlTable]()
    for schema, name in found:
        described = base.execute(f"PRAGMA {schema}.table_info({quote_name(name)})").fetchall()
        source = sources.get(name, name) if schema == "main" else name
        listed.append(SqlTable(name, tuple(column[1] for column in described), source))
    return listed


def run_query(
    base: sqlite3.Connection, sql: str, timeout_s: float
) -> tuple[list[str], list[Sequence[object]]]:
    """Run one reading statement; returns at most one row more than is shown.

    Raises:
        sqlite3.Error: not one reading statement, wrong, or out of time.
    """
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    base.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 10_000)
    base.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
    base.set_authorizer(_authorize)
    deadline = time.monotonic() + timeout_s
    base.set_progress_handler(lambda: time.monotonic() > deadline, 1000)
    cursor = base.execute(sql)
    columns = [column[0] for column in cursor.description or ()]
    return columns, cursor.fetchmany(MAX_ROWS + 1)


def _authorize(
    action: int, first: str | None, second: str | None, base: str | None, trigger: str | None
) -> int:
    if action not in _ALLOWED_ACTIONS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_READ and (first or "").lower() in _CATALOGUES:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _load_csv(base: sqlite3.Connection, table: str, text: str) -> tuple[TableNote, ...]:
    """Create a table of a CSV text; return what a user should know of how it was read."""
    read = read_whole_table(text)
    # NUMERIC affinity turns what looks like a number into one and does not change other text.
    columns = ", ".join(
        f"{quote_name(name)} {'TEXT' if is_code else 'NUMERIC'}"
        for name, is_code in zip(read.columns, read.codes, strict=True)
    )
    base.execute(f"CREATE TABLE {quote_name(table)} ({columns})")
    places = ", ".join("?" for _ in read.columns)
    filled = ([cell or None for cell in row] for row in read.rows)
    base.executemany(f"INSERT INTO {quote_name(table)} VALUES ({places})", filled)
    return read.notes
