"""Stores runs in PostgreSQL: one connection a run, which holds the thread's lock and writes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final

import psycopg
from langgraph.store.base import BaseStore
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg import AsyncConnection, Connection
from psycopg.rows import DictRow, TupleRow, dict_row
from psycopg_pool import AsyncConnectionPool

from extensions.postgres.saver import (
    RETRY_TIMEOUT_S,
    START_RETRY_TIMEOUT_S,
    SessionSaver,
    build_store_error,
    is_brief_outage,
    retry_operation,
)
from extensions.postgres.session import (
    CONNECT_TIMEOUT_S,
    CONNECTION_OPTIONS,
    LOCK_KEY,
    THREADS_TABLE,
    ThreadSession,
    is_schema_ready,
    open_connection,
    prepare_schema,
)
from graph.stores.lazy_store import LazyStore
from graph.stores.run_database import RunDatabase, build_thread_namespace
from graph.stores.serializer import build_strict_serializer
from graph.stores.thread_locks import PRUNE_TIMEOUT_S, build_busy_error, build_prune_busy_error

_TABLES: Final = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", THREADS_TABLE)

_PRUNE_LOCK_NAME: Final = "/prune"
"""Locked like a thread, under a name that no thread can have."""


@contextmanager
def open_for_deletion(url: str) -> Iterator[Callable[[str], int]]:
    """Open a database for removing threads, when no other prune is running.

    Raises:
        StoreError: the server cannot be used.
        ThreadBusy: another prune takes too long.
    """
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S) as base:
            # Until no other machine removes runs; the lock ends with the connection.
            base.execute(f"SET lock_timeout = '{PRUNE_TIMEOUT_S:.0f}s'")
            try:
                base.execute(f"SELECT pg_advisory_lock({LOCK_KEY})", [_PRUNE_LOCK_NAME])
            except psycopg.errors.LockNotAvailable:
                raise build_prune_busy_error() from None
            base.execute("RESET lock_timeout")
            yield lambda thread: _delete_thread(base, thread)
    except psycopg.Error as error:
        raise build_store_error(url, error) from error


def _delete_thread(base: Connection[TupleRow], thread: str) -> int:
    """Remove a thread in one transaction, which holds its lock as a run does.

    Raises:
        ThreadBusy: the thread is running.
    """
    size = 0
    with base.transaction():
        row = base.execute(f"SELECT pg_try_advisory_xact_lock({LOCK_KEY})", [thread]).fetchone()
        if not row or not row[0]:
            raise build_busy_error(thread)
        for table in _TABLES:
            size += _delete_rows(base, table, "thread_id = %s", [thread])
        place = ".".join(build_thread_namespace(thread))
        size += _delete_rows(base, "store", "prefix = %s OR prefix LIKE %s", [place, f"{place}.%"])
    return size


def _delete_rows(base: Connection[TupleRow], table: str, which: str, values: list[str]) -> int:
    removed = base.execute(
        f"WITH removed AS (DELETE FROM {table} WHERE {which} RETURNING pg_column_size({table}.*)) "
        "SELECT coalesce(sum(pg_column_size), 0) FROM removed",
        values,
    ).fetchone()
    return int(removed[0]) if removed else 0


_STATUS_QUERY = """
SELECT current_setting('server_version') AS version, current_schema() AS schema,
    coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes
FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
    AND relkind = 'r' AND (relname LIKE 'checkpoint%' OR relname = 'store')
"""


def describe_database(url: str) -> str:
    """Return the server's version, the schema and its size.

    Raises:
        StoreError: runs cannot be stored there.
    """

    async def see() -> str:
        async with await open_connection(url) as connection:
            is_made = await is_schema_ready(connection)
            row = await (await connection.execute(_STATUS_QUERY)).fetchone()
        assert row is not None, "an aggregate returns one row"
        size = f"{row['bytes'] / 1e6:.1f} MB" if is_made else "tables are created by the first run"
        return f"PostgreSQL {row['version']}, schema {row['schema']} ({size})"

    return asyncio.run(
        retry_operation(see, url=url, patience_s=START_RETRY_TIMEOUT_S, worth=is_brief_outage)
    )


# Without configured logging it would warn on stderr of each connection that is lost and reopened.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


@asynccontextmanager
async def open_postgres(
    url: str, thread: str, *, patience_s: float = RETRY_TIMEOUT_S
) -> AsyncIterator[RunDatabase]:
    """Open a database for one thread, and lock the thread in it.

    If the server goes away afterwards, each operation is retried for at most `patience_s`.

    Raises:
        ThreadBusy: another caller runs the thread, on this machine or another.
        StoreError: the server cannot be used, within ten seconds.
    """
    session = ThreadSession(url, thread)
    try:
        await retry_operation(
            session.get_connection, url=url, patience_s=START_RETRY_TIMEOUT_S, worth=is_brief_outage
        )
        # Creating the tables may take longer than the timeout for a start.
        connection = await retry_operation(session.get_locked_connection, url=url)
    except BaseException:  # a cancel too: the lock must not outlive the attempt to open
        await session.release_thread()
        raise
    saver = SessionSaver(
        session, connection, serde=build_strict_serializer(), patience_s=patience_s
    )
    try:
        async with build_store(url, patience_s=patience_s) as store:
            yield RunDatabase(saver, store)
    finally:
        await saver.close()


def build_store(url: str, *, patience_s: float = START_RETRY_TIMEOUT_S) -> LazyStore:
    """Return the store of a database, for all threads; its first operation opens it."""
    steady = partial(retry_operation, url=url, patience_s=patience_s)
    return LazyStore(partial(_open_store, url), steady=steady)


@asynccontextmanager
async def _open_store(url: str) -> AsyncIterator[BaseStore]:
    """Open the store on its own connections, each opened when needed."""
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        url,
        min_size=0,
        max_size=4,
        open=False,
        timeout=5.0,
        check=AsyncConnectionPool.check_connection,
        kwargs={"autocommit": True, "row_factory": dict_row, **CONNECTION_OPTIONS},
    )
    async with pool, _open_batched(AsyncPostgresStore(pool)) as store:
        yield store


async def read_store_value(url: str, namespace: tuple[str, ...], key: str) -> dict[str, Any]:
    """Read one value of the store without locking a thread; empty if there is none.

    Raises:
        StoreError: the server cannot be used.
    """

    async def read() -> dict[str, Any]:
        async with await open_connection(url) as connection:
            await prepare_schema(connection)
            async with _open_batched(AsyncPostgresStore(connection)) as store:
                item = await store.aget(namespace, key)
            return item.value if item else {}

    return await retry_operation(
        read, url=url, patience_s=START_RETRY_TIMEOUT_S, worth=is_brief_outage
    )


class PostgresStores:
    """Databases of runs on a server, by address."""

    open = staticmethod(open_postgres)
    open_store = staticmethod(build_store)
    read_value = staticmethod(read_store_value)
    open_for_deletion = staticmethod(open_for_deletion)
    describe = staticmethod(describe_database)


@asynccontextmanager
async def _open_batched(store: AsyncPostgresStore) -> AsyncIterator[AsyncPostgresStore]:
    """Yield a store, and end its batching task afterwards.

    The library cancels that task when the store is garbage-collected; if the loop ends sooner,
    Python warns of a destroyed task.
    """
    try:
        yield store
    finally:
        if store._task is not None:
            store._task.cancel()
            await asyncio.wait([store._task])
