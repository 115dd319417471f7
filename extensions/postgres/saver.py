"""LangGraph's PostgreSQL checkpointer, whose operations survive an outage of the server.

Writes that wait at the same time share one transaction. An operation is retried for a while after
a server restart, a failover or a network failure. That is safe, since the library inserts only
missing rows. The tables are the library's own.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar, cast

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver, Conn
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow

from extensions.postgres.retries import RETRY_TIMEOUT_S, is_transient, retry_operation
from extensions.postgres.session import ThreadSession
from graph.stores.errors import build_unreadable_error
from nodes.errors import SupervisorError, ThreadBusy

Item = TypeVar("Item")
Outcome = BaseException | None
"""Of one write: None when it is saved."""


class WriteGroup(Generic[Item]):
    """Collects the writes of one event loop and passes them on together, one group at a time.

    Writes of one turn of the loop form a group, and so do all that arrive while one is being saved.

    Args:
        save: saves a group and returns the outcome of each write, in order.
    """

    def __init__(self, save: Callable[[Sequence[Item]], Awaitable[Sequence[Outcome]]]) -> None:
        self._save = save
        self._waiting: list[tuple[Item, asyncio.Future[None]]] = []
        self._saving: asyncio.Task[None] | None = None

    async def write(self, write: Item) -> None:
        """Return when a write is saved, or raise its error.

        A caller that is cancelled does not take its write back.
        """
        outcome = asyncio.get_running_loop().create_future()
        self._waiting.append((write, outcome))
        if self._saving is None or self._saving.done():
            self._saving = asyncio.create_task(self._save_groups())
        await outcome

    async def finish(self) -> None:
        """Return when no write waits."""
        while self._saving is not None and not self._saving.done():
            await asyncio.wait([self._saving])

    async def _save_groups(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                outcomes = await self._save([write for write, _ in group])
            except Exception as error:  # raised by each caller that waits
                outcomes = [error] * len(group)
            for (_, waiting), problem in zip(group, outcomes, strict=True):
                if waiting.done():  # its caller was cancelled
                    continue
                if problem is None:
                    waiting.set_result(None)
                else:
                    waiting.set_exception(problem)


@dataclass(frozen=True)
class Write:
    """Collects the statements of one write, in place of a cursor."""

    statements: list[tuple[str, list[Sequence[Any]]]] = field(default_factory=list)
    """Each with its rows of values."""

    async def execute(self, statement: str, values: Sequence[Any]) -> None:
        self.statements.append((statement, [values]))

    async def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self.statements.append((statement, list(rows)))


class RetryingSaver(AsyncPostgresSaver, ABC):
    """Saves checkpoints; a subclass says through which connection."""

    def __init__(
        self,
        connection: Conn,
        url: str,
        *,
        serde: SerializerProtocol | None = None,
        patience_s: float = RETRY_TIMEOUT_S,
    ) -> None:
        super().__init__(connection, serde=serde)
        self._retry = partial(retry_operation, url=url, patience_s=patience_s)
        self._writes: WriteGroup[Write] = WriteGroup(self._save_group)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint.

        Raises:
            CheckpointUnreadable: its bytes are damaged.
            StoreError: the server stays unavailable.
        """
        ask = super().aget_tuple
        try:
            return await self._retry(lambda: ask(config))
        except SupervisorError:
            raise
        except Exception as error:  # each decoder has its own
            raise build_unreadable_error(
                config, await self._find_checkpoint_id(config), error
            ) from error

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        ask = super().alist

        async def collect() -> list[CheckpointTuple]:
            listed = ask(config, filter=filter, before=before, limit=limit)
            return [item async for item in listed]

        for item in await self._retry(collect):
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        values = {
            name: _replace_unstorable_text(v) for name, v in checkpoint["channel_values"].items()
        }
        storable: Checkpoint = {**checkpoint, "channel_values": values}
        return await super().aput(config, storable, metadata, new_versions)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        prune = super().aprune
        await self._retry(lambda: prune(thread_ids, strategy=strategy))

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """Yield a cursor of a connection that is usable.

        Replaces the library's method, which would keep using a lost connection. The library asks
        for a pipeline when it only writes; these statements are executed with those of its group.
        """
        if pipeline:
            write = Write()
            yield cast(AsyncCursor[DictRow], write)
            await self._writes.write(write)
            return
        async with self._hold_connection() as connection, connection.cursor(binary=True) as cursor:
            yield cursor

    async def _save_group(self, group: Sequence[Write]) -> list[Outcome]:
        """Save writes in one transaction; if one of them cannot be saved, each in its own."""
        try:
            await self._retry(lambda: self._execute(group))
        except ThreadBusy:
            raise
        except Exception as error:  # whatever it is, one bad write must not spoil the others
            if len(group) == 1 or is_transient(error.__cause__ or error):
                raise
            return [await self._save_alone(write) for write in group]
        return [None] * len(group)

    async def _save_alone(self, write: Write) -> Outcome:
        try:
            await self._save_group([write])
        except Exception as error:  # raised by the caller that waits for this write
            return error
        return None

    async def _execute(self, group: Sequence[Write]) -> None:
        async with (
            self._hold_connection() as connection,
            connection.pipeline(),
            connection.transaction(),
            connection.cursor(binary=True) as cursor,
        ):
            await self._check_writer(cursor)
            for statement, rows in (each for write in group for each in write.statements):
                await cursor.executemany(statement, rows)

    async def _check_writer(self, cursor: AsyncCursor[DictRow]) -> None:
        """Let a transaction of writes fail if this saver may not write any more."""

    @abstractmethod
    def _hold_connection(self) -> AbstractAsyncContextManager[AsyncConnection[DictRow]]:
        """Return a context manager of a connection that one caller may use."""

    async def _find_checkpoint_id(self, config: RunnableConfig) -> str:
        """Return the id of a config's checkpoint: the one it names, or the newest."""
        place = config["configurable"]
        if named := place.get("checkpoint_id"):
            return str(named)
        async with self._cursor() as cursor:
            await cursor.execute(
                "SELECT max(checkpoint_id) AS newest FROM checkpoints "
                "WHERE thread_id = %s AND checkpoint_ns = %s",
                (str(place["thread_id"]), place.get("checkpoint_ns", "")),
            )
            row = await cursor.fetchone()
        return str(row["newest"]) if row else ""


class SessionSaver(RetryingSaver):
    """Saves through the connection that holds the thread; open it with `open_postgres`."""

    def __init__(
        self,
        session: ThreadSession,
        connection: AsyncConnection[DictRow],
        *,
        serde: SerializerProtocol | None = None,
        patience_s: float = RETRY_TIMEOUT_S,
    ) -> None:
        super().__init__(connection, session.url, serde=serde, patience_s=patience_s)
        self._session = session

    async def close(self) -> None:
        """Release the thread, after the operation in progress has ended.

        A cancelled run may leave such an operation; later ones are refused.
        """
        async with self.lock:
            await self._session.release_thread()
        await self._writes.finish()

    @asynccontextmanager
    async def _hold_connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        """Yield the connection that holds the thread, to one caller at a time."""
        async with self.lock:
            connection = await self._session.get_locked_connection()
            try:
                yield connection
            except BaseException as error:  # a cancel too: its answer would be the next query's
                if isinstance(error, psycopg.Error) or not isinstance(error, Exception):
                    await self._session.drop_connection()
                raise


def _replace_unstorable_text(value: Any) -> Any:
    """Replace characters that PostgreSQL's JSON cannot hold; values other than text are bytes."""
    if not isinstance(value, str):
        return value
    return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
