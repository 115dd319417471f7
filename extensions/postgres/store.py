"""Stores runs in PostgreSQL: one connection a run, which holds the thread's lock and writes."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from langgraph.store.base import BaseStore
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from extensions.postgres.maintenance import describe_database, open_for_deletion
from extensions.postgres.retries import (
    RETRY_TIMEOUT_S,
    START_RETRY_TIMEOUT_S,
    is_brief_outage,
    retry_operation,
)
from extensions.postgres.saver import SessionSaver
from extensions.postgres.schema import prepare_schema
from extensions.postgres.session import CONNECTION_OPTIONS, ThreadSession, open_connection
from graph.stores.lazy_store import LazyStore, open_batched_store
from graph.stores.run_database import RunDatabase
from graph.stores.serializer import build_strict_serializer

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
    async with pool, open_batched_store(AsyncPostgresStore(pool)) as store:
        yield store


async def read_store_value(url: str, namespace: tuple[str, ...], key: str) -> dict[str, Any]:
    """Read one value of the store without locking a thread; empty if there is none.

    Raises:
        StoreError: the server cannot be used.
    """

    async def read() -> dict[str, Any]:
        async with await open_connection(url) as connection:
            await prepare_schema(connection)
            async with open_batched_store(AsyncPostgresStore(connection)) as store:
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
