"""A connection that holds a thread's lock. What a run writes, it writes through here.

The lock dies with the connection, and so does the right to write: one that comes back late cannot
add to a thread that somebody else has taken meanwhile.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from psycopg import AsyncConnection, Error
from psycopg.rows import DictRow, dict_row

from graph.stores.postgres_schema import THREADS, prepare
from nodes.errors import StoreError, ThreadBusy

CONNECT_TIMEOUT_S: Final = 5
OPTIONS: Final = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    # A network that swallows packets is noticed in seconds, not in hours.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
_SESSION = """
SELECT set_config('idle_session_timeout', '0', false),
    set_config('statement_timeout', '25s', false),
    set_config('tcp_keepalives_idle', '10', false),
    set_config('tcp_keepalives_interval', '5', false),
    set_config('tcp_keepalives_count', '3', false)
"""
LOCK_KEY: Final = "hashtextextended('supervise ' || current_schema() || ' ' || %s, 0)"
"""Of a thread; schemas of one database do not share threads."""
_LOCK = f"SELECT pg_try_advisory_lock({LOCK_KEY}) AS held"
_TAKE = (
    f"INSERT INTO {THREADS} (thread_id, holder) VALUES (%s, %s) "
    "ON CONFLICT (thread_id) DO UPDATE SET holder = excluded.holder"
)
_HOLDER = f"SELECT holder FROM {THREADS} WHERE thread_id = %s"
_GHOST = (
    "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity "
    "WHERE application_name = %s AND pid <> pg_backend_pid()"
)


async def connect(url: str, *, name: str = "supervise") -> AsyncConnection[DictRow]:
    """Connect to a server, with limits on how long it may be silent."""
    return await AsyncConnection.connect(
        url, autocommit=True, row_factory=dict_row, application_name=name, **_options()
    )


class ThreadSession:
    """Holds a thread for as long as a run lasts, over as many connections as that takes."""

    def __init__(self, url: str, thread: str) -> None:
        self.url, self.thread = url, thread
        self._holder = uuid4().hex
        self._connection: AsyncConnection[DictRow] | None = None
        self._is_held = False
        """By the connection of now."""
        self._is_taken = False
        """By this run, once."""
        self._is_over = False

    async def connection(self) -> AsyncConnection[DictRow]:
        """Give the connection, made anew when it was lost; not for use by two at once.

        Raises:
            ThreadBusy: another caller runs the thread, or has run it since.
            StoreError: the tables are not ours, or the run is over.
            psycopg.Error: the server cannot be reached.
        """
        connection = await self.reach()
        if not self._is_held:
            try:
                await connection.execute(_SESSION)
                await (self._retake(connection) if self._is_taken else self._take(connection))
            except BaseException:  # a cancel too: a connection that holds no thread is of no use
                await self.drop()
                raise
            self._is_held = True
        return connection

    async def reach(self) -> AsyncConnection[DictRow]:
        """Give a connection that may not hold the thread yet, made anew when it was lost.

        Raises:
            StoreError: the run is over.
            psycopg.Error: the server cannot be reached.
        """
        if self._is_over:
            raise StoreError(f"the run on thread {self.thread} is over, and saves no more")
        if self._connection is None or self._connection.closed:
            self._is_held = False
            self._connection = await connect(self.url, name=f"supervise {self._holder}")
        return self._connection

    async def drop(self) -> None:
        """Part with a connection that failed; the next one must hold the thread anew."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await _close(connection)

    async def end(self) -> None:
        """Let go of the thread for good."""
        self._is_over = True
        await self.drop()

    async def _take(self, connection: AsyncConnection[DictRow]) -> None:
        await prepare(connection)
        if not await self._is_locked(connection):
            raise ThreadBusy(
                f"thread {self.thread!r} is running elsewhere",
                kept="the run that holds it is unharmed",
                next="wait for it, or choose another --thread",
            )
        await connection.execute(_TAKE, [self.thread, self._holder])
        self._is_taken = True

    async def _retake(self, connection: AsyncConnection[DictRow]) -> None:
        """Hold the thread again, unless it has been somebody else's meanwhile."""
        # After a cut network the server may still keep the lock for the connection that is gone.
        await connection.execute(_GHOST, [f"supervise {self._holder}"])
        if await self._is_locked(connection):
            row = await (await connection.execute(_HOLDER, [self.thread])).fetchone()
            if row and row["holder"] == self._holder:
                return
        raise ThreadBusy(
            f"thread {self.thread!r} was taken by another run "
            "while the connection to the run database was lost",
            kept="what was saved before, and what that run does",
            next="wait for it; `supervise show` tells how it stands",
        )

    async def _is_locked(self, connection: AsyncConnection[DictRow]) -> bool:
        row = await (await connection.execute(_LOCK, [self.thread])).fetchone()
        return bool(row and row["held"])


def _options() -> dict[str, Any]:
    """Give the limits; typed loosely because psycopg takes them among its own parameters."""
    return dict(OPTIONS)


async def _close(connection: AsyncConnection[DictRow]) -> None:
    with suppress(Error, OSError, TimeoutError):
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            await connection.close()
