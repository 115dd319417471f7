"""LangGraph's PostgreSQL checkpointer, through the one connection that holds the thread.

An operation is retried for a while after a server restart, a failover or a network failure. That
is safe, since the library inserts only missing rows. The tables are the library's own.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import DictRow

from graph.stores.errors import build_unreadable_error
from graph.stores.postgres_retries import RETRY_TIMEOUT_S, retry_operation
from graph.stores.postgres_session import ThreadSession
from nodes.errors import SupervisorError


class RetryingSaver(AsyncPostgresSaver):
    """Saves checkpoints; open it with `graph.stores.postgres.open_postgres`."""

    def __init__(
        self,
        session: ThreadSession,
        connection: AsyncConnection[DictRow],
        *,
        serde: SerializerProtocol | None = None,
        patience_s: float = RETRY_TIMEOUT_S,
    ) -> None:
        super().__init__(connection, serde=serde)
        self._session = session
        self._retry = partial(retry_operation, url=session.url, patience_s=patience_s)

    async def close(self) -> None:
        """Release the thread, after the operation in progress has ended.

        A cancelled run may leave such an operation; later ones are refused.
        """
        async with self.lock:
            await self._session.release_thread()

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
        put = super().aput
        values = {
            name: _replace_unstorable_text(v) for name, v in checkpoint["channel_values"].items()
        }
        storable: Checkpoint = {**checkpoint, "channel_values": values}
        return await self._retry(lambda: put(config, storable, metadata, new_versions))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        put = super().aput_writes
        await self._retry(lambda: put(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        delete = super().adelete_thread
        await self._retry(lambda: delete(thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        prune = super().aprune
        await self._retry(lambda: prune(thread_ids, strategy=strategy))

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """Yield a cursor of the connection that holds the thread, one at a time.

        Replaces the library's method, which would keep using a lost connection.
        """
        async with self.lock:
            connection = await self._session.get_locked_connection()
            try:
                if pipeline:
                    async with connection.pipeline(), connection.cursor(binary=True) as cursor:
                        yield cursor
                else:
                    async with connection.cursor(binary=True) as cursor:
                        yield cursor
            except BaseException as error:
                # After a cancel the connection's next answer would belong to an earlier query.
                if isinstance(error, psycopg.Error) or not isinstance(error, Exception):
                    await self._session.drop_connection()
                raise

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


def _replace_unstorable_text(value: Any) -> Any:
    """Replace characters that PostgreSQL's JSON cannot hold; values other than text are bytes."""
    if not isinstance(value, str):
        return value
    return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
