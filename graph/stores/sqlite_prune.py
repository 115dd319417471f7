"""Removes threads from a SQLite file, and frees their disk space."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from graph.stores.run_database import build_thread_namespace
from graph.stores.sqlite import build_failure_error, build_unusable_error
from graph.stores.sqlite_file import check_database_file, distrust_schema, write_schema
from graph.stores.sqlite_lock import MAX_WAIT_S, retry_while_locked
from graph.stores.sqlite_values import VALUES_TABLE

_VACUUM_TIMEOUT_S: Final = 2.0
_SIZE_EXPRESSIONS: Final = {
    "checkpoints": "length(checkpoint) + length(metadata)",
    "writes": "coalesce(length(value), 0)",
    VALUES_TABLE: "length(value)",
}


@contextmanager
def open_for_deletion(path: Path) -> Iterator[Callable[[str], int]]:
    """Open a file for removing threads; afterwards it is compacted, unless others use it.

    Raises:
        StoreError: the file is another application's, damaged, or not writable.
    """
    if not path.exists():
        yield lambda _: 0
        return
    try:
        retry_while_locked(path, partial(check_database_file, path))
        with closing(sqlite3.connect(path, timeout=MAX_WAIT_S)) as base:
            distrust_schema(base)
            with base:
                write_schema(base)
            yield lambda thread: _delete_thread(base, thread)
            # Without compaction the free space is reused by later runs.
            base.execute(f"PRAGMA busy_timeout = {_VACUUM_TIMEOUT_S * 1000:.0f}")
            with suppress(sqlite3.OperationalError):
                base.execute("VACUUM")
                base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except OSError as error:
        raise build_unusable_error(path, error) from error
    except sqlite3.Error as error:
        raise build_failure_error(path, error) from error


def _delete_thread(base: sqlite3.Connection, thread: str) -> int:
    size = 0
    with base:
        for table, expression in _SIZE_EXPRESSIONS.items():
            (found,) = base.execute(
                f"SELECT sum({expression}) FROM {table} WHERE thread_id = ?", (thread,)
            ).fetchone()
            size += found or 0
            base.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread,))
        if base.execute("SELECT 1 FROM sqlite_master WHERE name = 'store'").fetchone():
            place = ".".join(build_thread_namespace(thread))
            base.execute(
                "DELETE FROM store WHERE prefix = ? OR prefix GLOB ?", (place, f"{place}.*")
            )
    return size
