"""Checks a SQLite file before use: is it intact, is it ours, is it of this version.

The check only reads, so that a refused file is not changed.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from filelock import FileLock
from langgraph.checkpoint.sqlite import SqliteSaver

from graph.stores.errors import build_unusable_error
from graph.stores.group_commit import CREATE_VALUES_TABLE, VALUES_TABLE
from graph.stores.sqlite_lock import TRY_S, is_locked
from nodes.security.private_files import make_private_folder
from nodes.text.plain_text import sanitize_line

SCHEMA_VERSION: Final = 2
"""Version of all tables. A change to them raises it, and adds a migration."""
VERSION_TABLE: Final = "supervise_schema"
TABLES: Final = ("checkpoints", "writes", VALUES_TABLE)
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
        raise build_unusable_error(
            path, "it is empty" if not head else "it is not a SQLite database"
        )
    try:
        with closing(_open_read_only(path)) as base:
            problem = _find_problem(base)
    except sqlite3.Error as error:
        if is_locked(error):
            raise
        raise build_unusable_error(path, error) from error
    if problem:
        raise build_unusable_error(path, problem)


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
            base.execute(CREATE_VALUES_TABLE)
            base.execute(f"CREATE TABLE {VERSION_TABLE} (version INTEGER NOT NULL)")
            base.execute(f"INSERT INTO {VERSION_TABLE} VALUES (?)", (SCHEMA_VERSION,))
            base.commit()
        os.replace(draft, path)


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
    if VERSION_TABLE not in tables:
        shown = ", ".join(sorted(tables)[:3]) or "nothing"
        return f"it is another application's: it holds {shown}"
    (found,) = base.execute(f"SELECT max(version) FROM {VERSION_TABLE}").fetchone()
    if found != SCHEMA_VERSION:
        named = f"version {found if isinstance(found, int) else 0} of the tables"
        return f"it has {named}, and this release reads version {SCHEMA_VERSION}"
    lacking = next((name for name in TABLES if name not in tables), "")
    return f"its table {lacking} is missing" if lacking else ""
