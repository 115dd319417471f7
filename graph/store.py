"""Where checkpoints are kept: a SQLite file that is checked before it is used."""

import inspect
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import BaseModel

import state
from nodes.errors import StoreError

BUSY_TIMEOUT_MS = 30_000


def vocabulary() -> list[tuple[str, str]]:
    """List the classes that a checkpoint of ours may hold, by module and name."""
    return sorted(
        (cls.__module__, cls.__qualname__)
        for cls in vars(state).values()
        if inspect.isclass(cls) and issubclass(cls, BaseModel) and cls.__module__ == "state"
    )


def strict_serializer() -> JsonPlusSerializer:
    """Read back our vocabulary and LangGraph's own types, and never run anything else."""
    return JsonPlusSerializer(allowed_msgpack_modules=vocabulary())


@asynccontextmanager
async def open_saver(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpoints, durable to the last step.

    Raises:
        StoreError: the file is no database of ours, damaged, or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = await aiosqlite.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    try:
        saver = AsyncSqliteSaver(connection, serde=strict_serializer())
        try:
            await _check(connection)
            await saver.setup()
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
        yield saver
    finally:
        await connection.close()


async def _check(connection: aiosqlite.Connection) -> None:
    await connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    await connection.execute("PRAGMA journal_mode = WAL")
    await connection.execute("PRAGMA synchronous = FULL")
    async with connection.execute("PRAGMA quick_check(1)") as rows:
        verdict = await rows.fetchone()
    if verdict is None or verdict[0] != "ok":
        raise sqlite3.DatabaseError(verdict[0] if verdict else "no verdict")
    await connection.execute("BEGIN IMMEDIATE")
    await connection.rollback()


def _unusable(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"the run database {path} cannot be used",
        cause=str(error),
        kept="the file is untouched",
        next="move it aside, mend its permissions, or set SUPERVISE_DATABASE_URL",
    )
