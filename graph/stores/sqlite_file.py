"""Looking at a SQLite file before it is used: is it whole, is it ours, is it of this version.

It is only read here, so that a file that is refused stays as it was.
"""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from filelock import FileLock
from langgraph.checkpoint.sqlite import SqliteSaver

from nodes.errors import StoreError

VERSION: Final = 1
"""Of the tables together. A change to them raises it, and says how the one before is brought up."""

_PLACE: Final = ("thread_id", "checkpoint_ns", "checkpoint_id")
COLUMNS: Final[Mapping[str, frozenset[str]]] = {
    "checkpoints": frozenset({*_PLACE, "parent_checkpoint_id", "type", "checkpoint", "metadata"}),
    "writes": frozenset({*_PLACE, "task_id", "task_path", "idx", "channel", "type", "value"}),
}
STAMP: Final = "supervise_schema"
_LOOK_TIMEOUT_S = 5.0
_SIGNATURE = b"SQLite format 3\x00"


def check(path: Path) -> None:
    """Look whether runs can be kept in a file.

    Raises:
        StoreError: it is damaged, another application's, or of another version.
        OSError: it cannot be read or written.
    """
    with path.open("rb+") as file:
        head = file.read(len(_SIGNATURE))
    if head != _SIGNATURE:
        raise _refused(path, "it is empty" if not head else "it is no SQLite database")
    try:
        with closing(_read_only(path)) as base:
            problem = _problem(base)
    except sqlite3.Error as error:
        raise _refused(path, str(error)) from error
    if problem:
        raise _refused(path, problem)


def create(path: Path) -> None:
    """Make an empty database of this version, unless another process has just made it.

    It comes to its name whole: a process that is killed here leaves no half of a database.
    """
    locks = path.parent / "locks"
    locks.mkdir(exist_ok=True)
    with FileLock(locks / "new-database.lock", is_singleton=False):
        if path.exists():
            return
        draft = path.with_name(f"{path.name}.new")
        # A log that outlived its database would be played into the new one.
        for left in (draft, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            left.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft)) as base:
            SqliteSaver(base).setup()
            stamp(base)
            base.commit()
        os.replace(draft, path)


def stamp(base: sqlite3.Connection) -> None:
    """Write the version into a database that has none: a new one, or one from before the stamp."""
    base.execute(f"CREATE TABLE IF NOT EXISTS {STAMP} (version INTEGER NOT NULL)")
    base.execute(
        f"INSERT INTO {STAMP} SELECT ? WHERE NOT EXISTS (SELECT 1 FROM {STAMP})", (VERSION,)
    )


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_LOOK_TIMEOUT_S)


def _problem(base: sqlite3.Connection) -> str:
    (verdict,) = base.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        return str(verdict)
    tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    if not tables & {*COLUMNS, STAMP}:
        shown = ", ".join(sorted(tables)[:3]) or "nothing"
        return f"it is another application's: it holds {shown}"
    if STAMP in tables and (problem := _version_problem(base)):
        return problem
    for table, needed in COLUMNS.items():
        if table not in tables:
            return f"its table {table} is missing"
        found = {row[1] for row in base.execute(f"PRAGMA table_info({table})")}
        if lacking := sorted(needed - found):
            return f"its table {table} has no column {lacking[0]}: another version wrote it"
    return ""


def _version_problem(base: sqlite3.Connection) -> str:
    row = base.execute(f"SELECT max(version) FROM {STAMP}").fetchone()
    found = row[0] if isinstance(row[0], int) else 0
    if found == VERSION:
        return ""
    return f"it has version {found} of the tables, and this release reads version {VERSION}"


def _refused(path: Path, problem: str) -> StoreError:
    return StoreError(
        f"the run database {path} cannot be used",
        cause=problem,
        kept="the file is untouched",
        next="move it aside and a new one is made, or set SUPERVISE_DATABASE_URL",
    )
