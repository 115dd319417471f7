"""Runs in a SQLite file: checked before it is used, durable to the last step."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from filelock import AsyncFileLock
from langgraph.store.base import BaseStore

from graph.saver import GroupSaver
from graph.stores.batching import lent
from graph.stores.database import RunDatabase
from graph.stores.late_store import LateStore
from graph.stores.serializer import strict_serializer
from graph.stores.sqlite_file import check, create, stamp
from nodes.errors import StoreError

BUSY_TIMEOUT_S = 30.0

Result = TypeVar("Result")


@asynccontextmanager
async def open_sqlite(path: Path) -> AsyncIterator[RunDatabase]:
    """Open a file for checkpoints and for the store.

    Raises:
        StoreError: the file is no database of ours, damaged, or cannot be written.
    """
    opens = partial(_open_store, path)
    async with open_saver(path) as saver, LateStore(opens, steady=partial(_told, path)) as store:
        yield RunDatabase(saver, store)


@asynccontextmanager
async def open_saver(path: Path) -> AsyncIterator[GroupSaver]:
    """Open the checkpoints alone.

    Raises:
        StoreError: the file is no database of ours, damaged, or cannot be written.
    """
    try:
        connection = await asyncio.to_thread(_connect, path)
    except (OSError, sqlite3.Error) as error:
        raise unusable(path, error) from error
    saver = GroupSaver(connection, path, serde=strict_serializer())
    try:
        yield saver
    finally:
        await saver.close()


def unusable(path: Path, error: Exception) -> StoreError:
    """Say that a file cannot be opened or written."""
    return StoreError(
        f"the run database {path} cannot be used",
        cause=str(error),
        kept="the file is untouched",
        next="mend its permissions, move it aside, or set SUPERVISE_DATABASE_URL",
    )


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        create(path)
    check(path)
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        stamp(connection)
        connection.commit()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@asynccontextmanager
async def _open_store(path: Path) -> AsyncIterator[BaseStore]:
    import aiosqlite
    from langgraph.store.sqlite import AsyncSqliteStore  # slow to load

    opening: AbstractAsyncContextManager[aiosqlite.Connection] = aiosqlite.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None
    )
    async with opening as connection:
        await connection.execute("PRAGMA synchronous = FULL")
        async with lent(AsyncSqliteStore(connection)) as store:
            # Two that migrate one file at the same moment would trip over each other's versions.
            async with AsyncFileLock(f"{path}.store.lock", is_singleton=False):
                await store.setup()
            yield store


async def _told(path: Path, work: Callable[[], Awaitable[Result]]) -> Result:
    try:
        return await work()
    except sqlite3.Error as error:
        raise failed(path, error) from error


def failed(path: Path, error: Exception) -> StoreError:
    """Say that an operation failed on a file that was usable before."""
    return StoreError(f"the run database {path} failed", cause=str(error))
