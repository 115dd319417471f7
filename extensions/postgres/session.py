"""A connection that holds a thread's lock, and the tables that it creates. All writes use it.

The lock ends with the connection, and so does the right to write: a run that reconnects late
cannot write to a thread that another run has taken meanwhile.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg import AsyncConnection, Error
from psycopg.rows import DictRow, dict_row

from graph.stores.thread_locks import build_busy_error
from nodes.errors import StoreError, ThreadBusy

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
_CREATION_LOCK_QUERY = f"SELECT pg_try_advisory_lock({_CREATION_LOCK_KEY}) AS held"
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
        if (await _fetch_row(connection, _CREATION_LOCK_QUERY))["held"]:
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


CONNECT_TIMEOUT_S: Final = 5
CONNECTION_OPTIONS: Final[dict[str, Any]] = {  # psycopg takes them among its own parameters
    "connect_timeout": CONNECT_TIMEOUT_S,
    # A network that drops packets is detected in seconds, not in hours.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
_SESSION_SETTINGS = """
SELECT set_config('idle_session_timeout', '0', false),
    set_config('statement_timeout', '25s', false),
    set_config('tcp_keepalives_idle', '10', false),
    set_config('tcp_keepalives_interval', '5', false),
    set_config('tcp_keepalives_count', '3', false)
"""
LOCK_KEY: Final = "hashtextextended('supervise ' || current_schema() || ' ' || %s, 0)"
"""Lock key of a thread; schemas of one database do not share threads."""
_LOCK_QUERY = f"SELECT pg_try_advisory_lock({LOCK_KEY}) AS held"
_CLAIM_QUERY = (
    f"INSERT INTO {THREADS_TABLE} (thread_id, holder) VALUES (%s, %s) "
    "ON CONFLICT (thread_id) DO UPDATE SET holder = excluded.holder"
)
_HOLDER_QUERY = f"SELECT holder FROM {THREADS_TABLE} WHERE thread_id = %s"
_TERMINATE_QUERY = (
    "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity "
    "WHERE application_name = %s AND pid <> pg_backend_pid()"
)


async def open_connection(url: str, *, name: str = "supervise") -> AsyncConnection[DictRow]:
    """Connect to a server, with timeouts."""
    return await AsyncConnection.connect(
        url, autocommit=True, row_factory=dict_row, application_name=name, **CONNECTION_OPTIONS
    )


class ThreadSession:
    """Holds a thread during a run, with a new connection whenever one is lost."""

    def __init__(self, url: str, thread: str) -> None:
        self.url, self.thread = url, thread
        self._holder = uuid4().hex
        self._connection: AsyncConnection[DictRow] | None = None
        self._holds_lock = False
        """Whether the current connection holds the thread's lock."""
        self._was_claimed = False
        """Whether this run has held the thread before."""
        self._is_closed = False

    async def get_locked_connection(self) -> AsyncConnection[DictRow]:
        """Return the locked connection, reconnecting if it was lost; for one caller at a time.

        Raises:
            ThreadBusy: another caller runs the thread, or has run it since.
            StoreError: the tables are not ours, or the run is over.
            psycopg.Error: the server cannot be reached.
        """
        connection = await self.get_connection()
        if not self._holds_lock:
            try:
                await connection.execute(_SESSION_SETTINGS)
                claim = self._reclaim_thread if self._was_claimed else self._claim_thread
                await claim(connection)
            except BaseException:  # a cancel too: a connection that holds no thread is of no use
                await self.drop_connection()
                raise
            self._holds_lock = True
        return connection

    async def get_connection(self) -> AsyncConnection[DictRow]:
        """Return the connection, perhaps without the lock yet, reconnecting if it was lost.

        Raises:
            StoreError: the run is over.
            psycopg.Error: the server cannot be reached.
        """
        if self._is_closed:
            raise StoreError(f"the run on thread {self.thread} is over and cannot save")
        if self._connection is None or self._connection.closed:
            self._holds_lock = False
            self._connection = await open_connection(self.url, name=f"supervise {self._holder}")
        return self._connection

    async def drop_connection(self) -> None:
        """Close a failed connection; the next one must lock the thread again."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with suppress(Error, OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    await connection.close()

    async def release_thread(self) -> None:
        """Release the thread permanently; the next holder need not wait for the server."""
        self._is_closed = True
        if self._connection is not None and self._holds_lock:
            with suppress(Error, OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    # A server notices the end of a connection somewhat later.
                    await self._connection.execute("SELECT pg_advisory_unlock_all()")
        await self.drop_connection()

    async def _claim_thread(self, connection: AsyncConnection[DictRow]) -> None:
        await prepare_schema(connection)
        if not await self._try_lock(connection):
            raise build_busy_error(self.thread)
        await connection.execute(_CLAIM_QUERY, [self.thread, self._holder])
        self._was_claimed = True

    async def _reclaim_thread(self, connection: AsyncConnection[DictRow]) -> None:
        """Lock the thread again, unless another run has held it meanwhile."""
        # After a network failure the server may still keep the lock for the lost connection.
        await connection.execute(_TERMINATE_QUERY, [f"supervise {self._holder}"])
        if await self._try_lock(connection):
            row = await (await connection.execute(_HOLDER_QUERY, [self.thread])).fetchone()
            if row and row["holder"] == self._holder:
                return
        raise ThreadBusy(
            f"thread {self.thread!r} was taken by another run "
            "while the connection to the run database was lost",
            kept="what was saved before, and what the other run saves",
            next="wait for it; `supervise show` shows its state",
        )

    async def _try_lock(self, connection: AsyncConnection[DictRow]) -> bool:
        row = await (await connection.execute(_LOCK_QUERY, [self.thread])).fetchone()
        return bool(row and row["held"])
