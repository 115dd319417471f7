"""Stores runs in a SQLite file: checked before use, durable to the last step."""

import asyncio
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    asynccontextmanager,
    closing,
    contextmanager,
    suppress,
)
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, TypeVar

from langgraph.store.base import BaseStore, SearchItem, SearchOp

from graph.stores.errors import build_failure_error, build_unusable_error, log_lost_store
from graph.stores.group_commit import VALUES_TABLE, GroupCommitSaver
from graph.stores.lazy_store import LazyStore
from graph.stores.run_database import RunDatabase, build_thread_namespace
from graph.stores.serializer import build_strict_serializer
from graph.stores.sqlite_file import (
    check_database_file,
    create_database_file,
    distrust_schema,
)
from graph.stores.sqlite_lock import (
    MAX_WAIT_S,
    TRY_S,
    DatabaseLocked,
    choose_wait_s,
    retry_while_locked,
)
from nodes.limits.nesting import parse_json
from nodes.security.private_files import make_private_folder, tighten_mode

Result = TypeVar("Result")


class ReadDatabase(Protocol):
    """Reads from a connection, outside the event loop."""

    async def __call__(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what `work` returns."""


_savers: Final[dict[Path, GroupCommitSaver]] = {}
"""That are open, by file."""
_savers_lock: Final = threading.Lock()
_opening_locks: Final[defaultdict[Path, threading.Lock]] = defaultdict(threading.Lock)


@asynccontextmanager
async def open_sqlite(path: Path, wait_s: float = MAX_WAIT_S) -> AsyncIterator[RunDatabase]:
    """Open a file for checkpoints and for the store.

    Args:
        wait_s: how long to wait while another program has locked the file.

    Raises:
        StoreError: the file is another application's, damaged, locked, or not writable.
    """
    async with open_saver(path, wait_s) as saver, build_store(path, saver.read) as store:
        yield RunDatabase(saver, store)


def build_store(path: Path, read: ReadDatabase | None = None) -> LazyStore:
    """Return the store of a file, which its first write opens.

    Args:
        read: reads from a connection that is open; without it each search opens one.
    """
    return LazyStore(
        partial(_open_store, path),
        search=partial(search_store, read or partial(read_once, path)),
    )


@asynccontextmanager
async def open_saver(path: Path, wait_s: float = MAX_WAIT_S) -> AsyncIterator[GroupCommitSaver]:
    """Open a file for checkpoints only; callers in one process share the saver.

    Raises:
        StoreError: the file is another application's, damaged, locked, or not writable.
    """
    while (saver := _join_saver(path)) is None:
        opening = asyncio.ensure_future(asyncio.to_thread(_open_shared_saver, path, wait_s))
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(partial(_drop_unused_saver, path))
            raise
    try:
        yield saver
    finally:
        try:
            if saver.users > 1:  # else closing does it: what a run has queued ends before its lock
                await asyncio.shield(saver.flush())
        finally:
            if _leave_saver(saver):
                await saver.close()


def _drop_unused_saver(path: Path, opened: "asyncio.Future[None]") -> None:
    """End a saver whose caller was cancelled while it was opened, unless another has joined it."""
    if not opened.cancelled():
        opened.exception()  # no caller waits for it
    with _savers_lock:
        saver = _savers.get(path.absolute())
        if saver is not None and not saver.users:
            del _savers[path.absolute()]
            saver.abandon()


def _join_saver(path: Path) -> GroupCommitSaver | None:
    """Return the open saver of a file, for one user more; None if there is none."""
    with _savers_lock:
        saver = _savers.get(path.absolute())
        if saver is None or not saver.has_its_file:
            return None
        saver.users += 1
        return saver


def _leave_saver(saver: GroupCommitSaver) -> bool:
    """End one use of a saver; return whether that was the last one."""
    with _savers_lock:
        saver.users -= 1
        place = saver.path.absolute()
        if not saver.users and _savers.get(place) is saver:
            del _savers[place]
        return not saver.users


def _open_shared_saver(path: Path, wait_s: float) -> None:
    """Open the saver of a file, if it is not open; who comes meanwhile waits for it.

    Raises:
        StoreError: the file cannot be used.
    """
    began_s, opening = time.monotonic(), _opening_locks[path.absolute()]
    if not opening.acquire(timeout=wait_s):
        raise DatabaseLocked(path, f"another run waits for it, for more than {wait_s:.0f} s")
    try:
        left_s = max(0.0, wait_s - (time.monotonic() - began_s))
        _open_unless_open(path, left_s)
    finally:
        opening.release()


def _open_unless_open(path: Path, wait_s: float) -> None:
    with _savers_lock:
        known = _savers.get(path.absolute())
    if known is not None and known.has_its_file:
        return
    try:
        connection = retry_while_locked(path, partial(_open_connection, path), wait_s)
    except (OSError, sqlite3.Error) as error:
        raise build_unusable_error(path, error) from error
    saver = GroupCommitSaver(connection, path, serde=build_strict_serializer())
    with _savers_lock:
        _savers[path.absolute()] = saver
    if known is not None and not known.users:
        known.abandon()


def _open_connection(path: Path) -> sqlite3.Connection:
    make_private_folder(path.parent)
    if not path.exists():
        create_database_file(path)
    check_database_file(path)
    for end in ("", "-wal", "-shm"):
        tighten_mode(path.with_name(path.name + end))
    connection = sqlite3.connect(path, timeout=TRY_S, check_same_thread=False)
    try:
        distrust_schema(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        connection.commit()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@asynccontextmanager
async def _open_store(path: Path) -> AsyncIterator[BaseStore]:
    # In a thread, since it is slow to load.
    library = await asyncio.to_thread(import_module, "graph.stores.grouped_store")
    async with open_saver(path, choose_wait_s()) as saver:
        if saver.store is None:
            set_up = partial(library.set_up_tables, path)
            try:
                await asyncio.to_thread(retry_while_locked, path, set_up, choose_wait_s())
            except sqlite3.Error as error:
                raise log_lost_store(build_failure_error(path, error)) from error
            saver.store = saver.store or library.GroupedStore(saver)
        yield saver.store


SEARCH_TIMEOUT_S: Final = 5.0
_HAS_STORE_QUERY: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'store'"
_SEARCH_QUERY: Final = """
SELECT prefix, key, value, created_at, updated_at FROM store
WHERE prefix = ? OR substr(prefix, 1, length(?) + 1) = ? || '.'
ORDER BY updated_at DESC LIMIT ? OFFSET ?
"""


async def search_store(read: ReadDatabase, op: SearchOp) -> list[SearchItem] | None:
    """Return the items of a namespace, the newest first; None for a filter or a query.

    LangGraph's store would load NumPy where that is installed, and a run searches before its first
    model call, and again each second.

    Raises:
        sqlite3.Error, StoreError: the file cannot be read.
    """
    if op.filter or op.query or not op.namespace_prefix:
        return None
    return await read(partial(_read_items, op))


async def read_once(path: Path, work: Callable[[sqlite3.Connection], Result]) -> Result:
    """Read from a connection of its own, which cannot write."""

    def read() -> Result:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=SEARCH_TIMEOUT_S)) as base:
            distrust_schema(base)
            return work(base)

    return await asyncio.to_thread(read)


def _read_items(op: SearchOp, base: sqlite3.Connection) -> list[SearchItem]:
    place = ".".join(op.namespace_prefix)
    if not base.execute(_HAS_STORE_QUERY).fetchone():
        return []
    rows = base.execute(_SEARCH_QUERY, (place, place, place, op.limit, op.offset)).fetchall()
    return [
        SearchItem(tuple(prefix.split(".")), key, parse_json(value), created_at, updated_at)
        for prefix, key, value, created_at, updated_at in rows
    ]


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
