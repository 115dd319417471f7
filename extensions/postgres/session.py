"""A connection that holds a thread's lock. All writes of a run use it.

The lock ends with the connection, and so does the right to write: a run that reconnects late
cannot write to a thread that another run has taken meanwhile.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from psycopg import AsyncConnection, Error
from psycopg.rows import DictRow, dict_row

from extensions.postgres.schema import THREADS_TABLE, prepare_schema
from nodes.errors import StoreError, ThreadBusy

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
            raise ThreadBusy(
                f"thread {self.thread!r} is running elsewhere",
                kept="the run that holds it is unharmed",
                next="wait for it, or choose another --thread",
            )
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
