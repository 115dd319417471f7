"""The tables in a PostgreSQL schema: checked for owner and version, and created once."""

import asyncio
from typing import Any, Final

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg import AsyncConnection
from psycopg.rows import DictRow

from nodes.errors import StoreError

SCHEMA_VERSION: Final = 1
"""Version of all tables. A change to them raises it, and adds a migration."""

VERSION_TABLE: Final = "supervise_schema"
THREADS_TABLE: Final = "supervise_threads"
LIBRARY_VERSIONS: Final = {
    "checkpoint_migrations": len(AsyncPostgresSaver.MIGRATIONS) - 1,
    "store_migrations": len(AsyncPostgresStore.MIGRATIONS) - 1,
}
"""LangGraph's own versions, by the table that holds them."""
TABLES: Final = (
    *(VERSION_TABLE, THREADS_TABLE, *LIBRARY_VERSIONS),
    *("checkpoints", "checkpoint_blobs", "checkpoint_writes", "store"),
)

_STATUS_QUERY = """
SELECT current_schema() AS schema,
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS is_read_only,
    ARRAY(SELECT relname::text FROM pg_class
          WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
            AND relkind IN ('r', 'p') AND relname = ANY(%s)) AS tables
"""
_CREATION_LOCK_KEY = "hashtextextended('supervise schema ' || current_schema(), 0)"
_LOCK_QUERY = f"SELECT pg_try_advisory_lock({_CREATION_LOCK_KEY}) AS held"
_LOCK_PAUSE_S = 0.1


async def prepare_schema(connection: AsyncConnection[DictRow]) -> None:
    """Check whether runs can be stored here, and create missing tables in a new schema.

    Raises:
        StoreError: the tables are another application's, of another version, or incomplete.
        psycopg.Error: the server refuses.
    """
    if await is_schema_ready(connection):
        return
    # The library creates its indexes with CONCURRENTLY, which waits for every running statement:
    # a statement that waits for this lock would be a deadlock.
    while True:
        if (await _fetch_row(connection, _LOCK_QUERY))["held"]:
            break
        await asyncio.sleep(_LOCK_PAUSE_S)
    try:
        if not await is_schema_ready(connection):
            await _create_tables(connection)
    finally:
        if not connection.closed:
            await connection.execute(f"SELECT pg_advisory_unlock({_CREATION_LOCK_KEY})")


async def is_schema_ready(connection: AsyncConnection[DictRow]) -> bool:
    """Return whether our tables exist in this version; False if they can be created.

    Raises:
        StoreError: the tables are another application's, of another version, or incomplete.
    """
    seen = await _fetch_row(connection, _STATUS_QUERY, [list(TABLES)])
    if seen["schema"] is None:
        raise _build_refusal(connection, "its search_path names no schema that exists")
    if seen["is_read_only"]:
        raise _build_refusal(
            connection,
            "it is read-only: a standby, or a user who may not write",
            next="name the primary server in SUPERVISE_DATABASE_URL",
        )
    tables = set(seen["tables"])
    if not tables:
        return False
    if VERSION_TABLE not in tables:
        raise _build_refusal(
            connection,
            f"schema {seen['schema']} holds another application's tables: {sorted(tables)[0]}",
        )
    versions = await _fetch_row(connection, f"SELECT max(version) AS found FROM {VERSION_TABLE}")
    found = versions["found"]
    if found is None:  # their creation was interrupted
        return False
    if found != SCHEMA_VERSION:
        raise _build_refusal(
            connection,
            f"it has version {found} of the tables, and this release reads version "
            f"{SCHEMA_VERSION}",
        )
    if lacking := sorted(set(TABLES) - tables):
        raise _build_refusal(connection, f"its table {lacking[0]} is missing")
    return await _library_is_current(connection)


async def _library_is_current(connection: AsyncConnection[DictRow]) -> bool:
    """Return whether LangGraph's tables are current; the library migrates older ones."""
    maxima = ", ".join(f"(SELECT max(v) FROM {name}) AS {name}" for name in LIBRARY_VERSIONS)
    found = await _fetch_row(connection, f"SELECT {maxima}")
    for name, known in LIBRARY_VERSIONS.items():
        if (found[name] or 0) > known:
            raise _build_refusal(
                connection, f"a newer LangGraph wrote it: {name} {found[name]}, known are {known}"
            )
    return all((found[name] or 0) == known for name, known in LIBRARY_VERSIONS.items())


async def _create_tables(connection: AsyncConnection[DictRow]) -> None:
    await connection.execute(
        f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version INTEGER NOT NULL)"
    )
    await AsyncPostgresSaver(connection).setup()
    await AsyncPostgresStore(connection).setup()
    await connection.execute(
        f"CREATE TABLE IF NOT EXISTS {THREADS_TABLE} (thread_id TEXT PRIMARY KEY, holder "
        "TEXT NOT NULL)"
    )
    await connection.execute(
        f"INSERT INTO {VERSION_TABLE} SELECT %s WHERE NOT EXISTS (SELECT 1 FROM {VERSION_TABLE})",
        [SCHEMA_VERSION],
    )


async def _fetch_row(connection: AsyncConnection[DictRow], sql: str, values: Any = None) -> DictRow:
    row = await (await connection.execute(sql, values)).fetchone()
    assert row is not None, "each of these queries returns one row"
    return row


def _build_refusal(
    connection: AsyncConnection[DictRow],
    problem: str,
    next: str = "name another database or schema in SUPERVISE_DATABASE_URL "
    "(…?options=-csearch_path%3Dsupervise)",
) -> StoreError:
    at = connection.info
    return StoreError(
        f"the run database postgresql://{at.user}@{at.host}:{at.port}/{at.dbname} cannot be used",
        cause=problem,
        kept="nothing in it was changed",
        next=next,
    )
