"""Saves a run of a server, as long as no other start of a run has taken its thread.

Several servers share the database. One that was paused does not know that another has resumed its
run; so each start of a run writes a token of its own beside the thread's checkpoints, and each of
its transactions compares it. The row is in a table of LangGraph's, under a namespace that no graph
has: it needs no schema and is deleted with its thread.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import uuid4

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection, AsyncCursor, errors
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from extensions.postgres.saver import RetryingSaver, Write
from graph.stores.errors import ThreadTaken
from graph.stores.postgres_url import format_public_address
from nodes.errors import StoreError

FRESH_S: Final = 1.0
"""How long the last look at the token counts for `confirm`."""
RELEASE_TIMEOUT_S: Final = 5.0
_PLACE: Final = (
    "thread_id = %s AND checkpoint_ns = '__writer' "
    "AND checkpoint_id = '' AND task_id = '' AND idx = 0"
)
_CLAIM_QUERY: Final = (
    "INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, "
    "idx, channel, type, blob) VALUES (%s, '__writer', '', '', "
    "extract(epoch FROM clock_timestamp())::text, 0, '__writer', 'bytes', %s) "
    "ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) "
    "DO UPDATE SET blob = excluded.blob, task_path = "
    "CASE WHEN position(%s IN checkpoint_writes.blob) > 0 "
    "THEN checkpoint_writes.task_path ELSE excluded.task_path END "
    "RETURNING extract(epoch FROM clock_timestamp())::float8 AS now_s, "
    "task_path::float8 AS begun_s"
)
_READ_QUERY: Final = f"SELECT blob FROM checkpoint_writes WHERE {_PLACE}"
_RELEASE_QUERY: Final = (
    f"UPDATE checkpoint_writes SET blob = %s WHERE {_PLACE} AND blob = %s RETURNING blob"
)
# A division by zero ends the transaction without a round trip. The lock keeps the row as it is
# until the commit, and the timeout frees it if this process is paused before.
_CHECK_QUERY: Final = (
    "SELECT set_config('idle_in_transaction_session_timeout', '5s', true), 1 / (blob = %s)::int "
    f"FROM checkpoint_writes WHERE {_PLACE} FOR SHARE"
)
_ENDED: Final = b"ended "
Work = Callable[[], Awaitable[Any]]
"""Asks the database; returns what it answers."""


@dataclass(frozen=True)
class Claim:
    """When a start of a run took its thread, in seconds on the database's clock."""

    at_s: float
    begun_s: float
    """When the first start of this run did: a kill may come before the first checkpoint."""


class SharedSaver(RetryingSaver):
    """Saves one start of a run through the pool of a server's own checkpointer."""

    def __init__(
        self,
        saver: AsyncPostgresSaver,
        pool: AsyncConnectionPool[AsyncConnection[DictRow]],
        thread: str,
        run: str,
    ) -> None:
        address = pool.conninfo if isinstance(pool.conninfo, str) else ""
        super().__init__(pool, address, serde=saver.serde)
        self._retry = partial(_hide_address, address, self._retry)
        self._pool, self.thread, self._run = pool, thread, run.encode()
        self._token = uuid4().hex.encode() + b" " + self._run
        self._seen_at = 0.0

    async def claim(self) -> Claim:
        """Take the thread; return when.

        Raises:
            StoreError: the database cannot be used.
        """
        values = (self.thread, self._token, self._run)
        row = await self._retry(lambda: self._fetch(_CLAIM_QUERY, *values))
        self._seen_at = time.monotonic()
        assert row is not None
        return Claim(float(row["now_s"]), float(row["begun_s"]))

    async def confirm(self) -> None:
        """Raise if the thread was taken; the database is asked once a second at most.

        Raises:
            ThreadTaken: another start of a run has taken the thread.
            StoreError: the database cannot be used.
        """
        if time.monotonic() - self._seen_at > FRESH_S:
            holder = await self.read_holder()
            if holder not in (b"", self._token):
                raise self._build_taken_error(holder)
            self._seen_at = time.monotonic()

    async def read_holder(self) -> bytes:
        """Return the token that the thread has now; empty if its row was removed."""
        row = await self._retry(lambda: self._fetch(_READ_QUERY, self.thread))
        return bytes(row["blob"]) if row else b""

    async def is_other_at_work(self) -> bool:
        """Return whether another start of this run has the thread and has not ended."""
        holder = await self.read_holder()
        return holder not in (b"", self._token) and not holder.startswith(_ENDED)

    async def release(self) -> None:
        """Note that this start has ended, after its last write; another's token is kept."""
        ended = _ENDED + self._token
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(RELEASE_TIMEOUT_S):
                await self._writes.finish()
                await self._retry(
                    lambda: self._fetch(_RELEASE_QUERY, ended, self.thread, self._token)
                )

    async def _fetch(self, query: str, *values: object) -> DictRow | None:
        async with self._hold_connection() as connection:
            return await (await connection.execute(query, values, binary=True)).fetchone()

    async def _check_writer(self, cursor: AsyncCursor[DictRow]) -> None:
        await cursor.execute(_CHECK_QUERY, (self._token, self.thread))

    async def _execute(self, group: Sequence[Write]) -> None:
        try:
            await super()._execute(group)
        except errors.DivisionByZero:  # of `_CHECK_QUERY`
            raise self._build_taken_error(await self.read_holder()) from None

    @asynccontextmanager
    async def _hold_connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        async with self._pool.connection() as connection:
            yield connection

    def _build_taken_error(self, holder: bytes) -> ThreadTaken:
        run = holder.removeprefix(_ENDED).partition(b" ")[2]
        return ThreadTaken(self.thread, is_same_run=run == self._run)


async def _hide_address(address: str, retry: Callable[[Work], Awaitable[Any]], work: Work) -> Any:
    """Return what `retry` does; the callers of the run read its error, and may not know the server.

    Raises:
        StoreError: the database cannot be used; its cause, with the address, is in the log.
    """
    try:
        return await retry(work)
    except StoreError as error:
        raise StoreError(
            error.what.replace(f" {format_public_address(address)}", ""),
            kept=error.kept,
            next="resume the run later; the server's log has the cause",
        ) from error.__cause__


def build_shared_saver(
    saver: BaseCheckpointSaver[Any], thread: str, run: str
) -> SharedSaver | None:
    """Return a saver for one start of a run; None if a checkpointer is not a server's own."""
    if type(saver) is not AsyncPostgresSaver or not isinstance(saver.conn, AsyncConnectionPool):
        return None
    return SharedSaver(saver, saver.conn, thread, run)
