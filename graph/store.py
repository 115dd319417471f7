"""Where checkpoints are kept: a SQLite file that is checked before it is used."""

import asyncio
import inspect
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import BaseModel

import state
from graph.masking import MaskingSerializer
from graph.saver import GroupSaver
from nodes.errors import StoreError

BUSY_TIMEOUT_S = 30.0


def vocabulary() -> list[tuple[str, str]]:
    """List the classes that a checkpoint of ours may hold, by module and name."""
    return sorted(
        (cls.__module__, cls.__qualname__)
        for cls in vars(state).values()
        if inspect.isclass(cls) and issubclass(cls, BaseModel) and cls.__module__ == "state"
    )


def strict_serializer() -> JsonPlusSerializer:
    """Read back our vocabulary and LangGraph's own types, and never run anything else.

    Known secrets are not written.
    """
    return MaskingSerializer(allowed_msgpack_modules=vocabulary())


@asynccontextmanager
async def open_saver(path: Path) -> AsyncIterator[GroupSaver]:
    """Open the checkpoints, durable to the last step.

    Raises:
        StoreError: the file is no database of ours, damaged, or cannot be written.
    """
    try:
        connection = await asyncio.to_thread(_connect, path)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    saver = GroupSaver(connection, serde=strict_serializer())
    try:
        yield saver
    finally:
        await saver.close()


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        SqliteSaver(connection).setup()
        connection.execute("BEGIN IMMEDIATE")
        connection.rollback()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _unusable(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"the run database {path} cannot be used",
        cause=str(error),
        kept="the file is untouched",
        next="move it aside, mend its permissions, or set SUPERVISE_DATABASE_URL",
    )
