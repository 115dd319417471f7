"""The tables in a PostgreSQL schema: ours or another's, of which version, and made once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg import AsyncConnection
from psycopg.rows import DictRow

from nodes.errors import StoreError

VERSION: Final = 1
"""Of the tables together. A change to them raises it, and says how the one before is brought up."""

STAMP: Final = "supervise_schema"
THREADS: Final = "supervise_threads"
LIBRARY: Final = {
    "checkpoint_migrations": len(AsyncPostgresSaver.MIGRATIONS) - 1,
    "store_migrations": len(AsyncPostgresStore.MIGRATIONS) - 1,
}
"""LangGraph's own versions, by the table that holds them."""
TABLES: Final = (
    *(STAMP, THREADS, *LIBRARY),
    *("checkpoints", "checkpoint_blobs", "checkpoint_writes", "store"),
)

_LOOK = """
SELECT current_schema() AS schema,
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS is_read_only,
    ARRAY(SELECT relname::text FROM pg_class
          WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
            AND relkind IN ('r', 'p') AND relname = ANY(%s)) AS tables
"""
_MAKING = "hashtextextended('supervise schema ' || current_schema(), 0)"
_MAKE_PAUSE_S = 0.1


async def prepare(connection: AsyncConnection[DictRow]) -> None:
    """Look whether runs can be kept here, and make what a new schema lacks.

    Raises:
        StoreError: the tables are another application's, of another version, or not whole.
        psycopg.Error: the server says no.
    """
    if await is_ready(connection):
        return
    # The library makes its indexes with CONCURRENTLY, which waits for every statement under way:
    # one that waited for this lock would be waited for.
    async for held in _tries(connection, f"SELECT pg_try_advisory_lock({_MAKING}) AS held"):
        if held:
            break
    try:
        if not await is_ready(connection):
            await _make(connection)
    finally:
        if not connection.closed:
            await connection.execute(f"SELECT pg_advisory_unlock({_MAKING})")


async def is_ready(connection: AsyncConnection[DictRow]) -> bool:
    """Say whether the tables are there, ours and of this version; False when they can be made.

    Raises:
        StoreError: the tables are another application's, of another version, or not whole.
    """
    seen = await _one(connection, _LOOK, [list(TABLES)])
    if seen["schema"] is None:
        raise _refused(connection, "its search_path names no schema that exists")
    if seen["is_read_only"]:
        raise _read_only(connection)
    tables = set(seen["tables"])
    if not tables:
        return False
    if STAMP not in tables:
        raise _refused(
            connection,
            f"schema {seen['schema']} holds another application's tables: {sorted(tables)[0]}",
        )
    found = (await _one(connection, f"SELECT max(version) AS found FROM {STAMP}"))["found"]
    if found is None:  # whoever began to make them was stopped
        return False
    if found != VERSION:
        raise _refused(
            connection,
            f"it has version {found} of the tables, and this release reads version {VERSION}",
        )
    if lacking := sorted(set(TABLES) - tables):
        raise _refused(connection, f"its table {lacking[0]} is missing")
    return await _library_is_current(connection)


async def _library_is_current(connection: AsyncConnection[DictRow]) -> bool:
    """Compare LangGraph's versions; an older one is brought up by the library."""
    maxima = ", ".join(f"(SELECT max(v) FROM {name}) AS {name}" for name in LIBRARY)
    found = await _one(connection, f"SELECT {maxima}")
    for name, known in LIBRARY.items():
        if (found[name] or 0) > known:
            raise _refused(
                connection, f"a newer LangGraph wrote it: {name} {found[name]}, known are {known}"
            )
    return all((found[name] or 0) == known for name, known in LIBRARY.items())


async def _make(connection: AsyncConnection[DictRow]) -> None:
    await connection.execute(f"CREATE TABLE IF NOT EXISTS {STAMP} (version INTEGER NOT NULL)")
    await AsyncPostgresSaver(connection).setup()
    await AsyncPostgresStore(connection).setup()
    await connection.execute(
        f"CREATE TABLE IF NOT EXISTS {THREADS} (thread_id TEXT PRIMARY KEY, holder TEXT NOT NULL)"
    )
    await connection.execute(
        f"INSERT INTO {STAMP} SELECT %s WHERE NOT EXISTS (SELECT 1 FROM {STAMP})", [VERSION]
    )


async def _tries(connection: AsyncConnection[DictRow], sql: str) -> AsyncIterator[bool]:
    while True:
        yield bool((await _one(connection, sql))["held"])
        await asyncio.sleep(_MAKE_PAUSE_S)


async def _one(connection: AsyncConnection[DictRow], sql: str, values: Any = None) -> DictRow:
    row = await (await connection.execute(sql, values)).fetchone()
    assert row is not None, "each of these gives one row"
    return row


def _refused(connection: AsyncConnection[DictRow], problem: str) -> StoreError:
    return StoreError(
        f"the run database {_where(connection)} cannot be used",
        cause=problem,
        kept="nothing in it was changed",
        next="name another database or schema in SUPERVISE_DATABASE_URL "
        "(…?options=-csearch_path%3Dsupervise)",
    )


def _read_only(connection: AsyncConnection[DictRow]) -> StoreError:
    return StoreError(
        f"the run database {_where(connection)} cannot be used",
        cause="it is read-only: a standby, or a user who may not write",
        kept="nothing in it was changed",
        next="name the primary server in SUPERVISE_DATABASE_URL",
    )


def _where(connection: AsyncConnection[DictRow]) -> str:
    at = connection.info
    return f"postgresql://{at.user}@{at.host}:{at.port}/{at.dbname}"
