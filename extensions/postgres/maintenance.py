"""Removes threads from PostgreSQL, and describes the database."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow

from extensions.postgres.retries import (
    START_RETRY_TIMEOUT_S,
    build_store_error,
    is_brief_outage,
    retry_operation,
)
from extensions.postgres.schema import THREADS_TABLE, is_schema_ready
from extensions.postgres.session import CONNECT_TIMEOUT_S, LOCK_KEY, open_connection
from graph.stores.run_database import build_thread_namespace
from graph.stores.thread_locks import PRUNE_TIMEOUT_S, build_prune_busy_error
from nodes.errors import ThreadBusy

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
            raise ThreadBusy(f"thread {thread!r} is running elsewhere")
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
