"""Checks a SQLite file before use: is it intact, is it ours, is it of this version.

The check only reads, so that a refused file is not changed.
"""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from filelock import FileLock
from langgraph.checkpoint.sqlite import SqliteSaver

from graph.stores.sqlite_lock import TRY_S, is_locked
from graph.stores.sqlite_values import CREATE_VALUES_TABLE
from nodes.errors import StoreError
from nodes.security.private_files import make_private_folder
from nodes.text.plain_text import sanitize_line

SCHEMA_VERSION: Final = 2
"""Version of all tables. A change to them raises it, and adds a migration."""
READABLE_VERSIONS: Final = (1, SCHEMA_VERSION)
"""A file of an earlier one is migrated when it is opened: 1 has no table of large values."""

_CHECKPOINT_KEY: Final = ("thread_id", "checkpoint_ns", "checkpoint_id")
REQUIRED_COLUMNS: Final[Mapping[str, frozenset[str]]] = {
    "checkpoints": frozenset(
        {*_CHECKPOINT_KEY, "parent_checkpoint_id", "type", "checkpoint", "metadata"}
    ),
    "writes": frozenset(
        {*_CHECKPOINT_KEY, "task_id", "task_path", "idx", "channel", "type", "value"}
    ),
}
VERSION_TABLE: Final = "supervise_schema"
_FOREIGN_QUERY: Final = """
SELECT iif(type = 'table', 'virtual table', type), name FROM sqlite_master
WHERE type IN ('trigger', 'view') OR coalesce(rootpage, 0) = 0
"""
"""What would act when the file is read or written."""
_SIGNATURE = b"SQLite format 3\x00"


def check_database_file(path: Path) -> None:
    """Check whether runs can be stored in a file.

    Raises:
        StoreError: the file is damaged, another application's, or of another version.
        OSError: the file cannot be read or written.
        sqlite3.Error: another program has locked it.
    """
    with path.open("rb+") as file:
        head = file.read(len(_SIGNATURE))
    if head != _SIGNATURE:
        raise _build_refusal(path, "it is empty" if not head else "it is not a SQLite database")
    try:
        with closing(_open_read_only(path)) as base:
            problem = _find_problem(base)
    except sqlite3.Error as error:
        if is_locked(error):
            raise
        raise _build_refusal(path, str(error)) from error
    if problem:
        raise _build_refusal(path, problem)


def create_database_file(path: Path) -> None:
    """Create an empty database of this version, unless another process has just created it.

    The file gets its name when it is complete, so that a kill leaves no partial database.
    """
    locks = path.parent / "locks"
    make_private_folder(locks)
    with FileLock(locks / "new-database.lock", mode=0o600, is_singleton=False):
        if path.exists():
            return
        draft = path.with_name(f"{path.name}.new")
        # A write-ahead log of a removed database would be applied to the new one.
        for left in (draft, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            left.unlink(missing_ok=True)
        draft.touch(0o600, exist_ok=False)
        with closing(sqlite3.connect(draft)) as base:
            SqliteSaver(base).setup()
            write_schema(base)
            base.commit()
        os.replace(draft, path)


def write_schema(base: sqlite3.Connection) -> None:
    """Add our own table and the version to a database: a new one, or one of an earlier release."""
    base.execute(CREATE_VALUES_TABLE)
    base.execute(f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version INTEGER NOT NULL)")
    base.execute(
        f"INSERT INTO {VERSION_TABLE} SELECT ? WHERE NOT EXISTS (SELECT 1 FROM {VERSION_TABLE})",
        (SCHEMA_VERSION,),
    )
    base.execute(f"UPDATE {VERSION_TABLE} SET version = ? WHERE version < ?", (SCHEMA_VERSION,) * 2)


def _open_read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=TRY_S)


def distrust_schema(base: sqlite3.Connection) -> None:
    """Let nothing that is defined in a file call functions with effects."""
    base.execute("PRAGMA trusted_schema = OFF")


def _find_problem(base: sqlite3.Connection) -> str:
    distrust_schema(base)
    if found := base.execute(_FOREIGN_QUERY).fetchone():
        return f"it holds the {found[0]} {sanitize_line(found[1], 60)}, which is not ours"
    (verdict,) = base.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        return str(verdict)
    tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    if not tables & {*REQUIRED_COLUMNS, VERSION_TABLE}:
        shown = ", ".join(sorted(tables)[:3]) or "nothing"
        return f"it is another application's: it holds {shown}"
    if VERSION_TABLE in tables and (problem := _find_version_problem(base)):
        return problem
    for table, needed in REQUIRED_COLUMNS.items():
        if table not in tables:
            return f"its table {table} is missing"
        found = {row[1] for row in base.execute(f"PRAGMA table_info({table})")}
        if lacking := sorted(needed - found):
            return f"its table {table} has no column {lacking[0]}: another version wrote it"
    return ""


def _find_version_problem(base: sqlite3.Connection) -> str:
    row = base.execute(f"SELECT max(version) FROM {VERSION_TABLE}").fetchone()
    found = row[0] if isinstance(row[0], int) else 0
    if found in READABLE_VERSIONS:
        return ""
    return f"it has version {found} of the tables, and this release reads version {SCHEMA_VERSION}"


def _build_refusal(path: Path, problem: str) -> StoreError:
    return StoreError(
        f"the run database {path} cannot be used",
        cause=problem,
        kept="the file is unchanged",
        next="move it aside to get a new one, or set SUPERVISE_DATABASE_URL",
    )
