"""LangGraph's PostgreSQL checkpointer, whose operations are retried in an outage of the server.

Writes that wait at the same time share one transaction. An operation is retried for a while after
a server restart, a failover or a network failure. That is safe, since the library inserts only
missing rows. The tables are the library's own.
"""

import asyncio
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypeVar, cast

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
from psycopg import AsyncConnection, AsyncCursor, errors
from psycopg.rows import DictRow

from extensions.postgres.session import ThreadSession
from graph.stores.errors import build_unreadable_error, log_lost_store
from graph.stores.postgres_url import format_public_address, mask_passwords
from nodes.errors import StoreError, SupervisorError, ThreadBusy
from nodes.errors.redaction import redact_text

Result = TypeVar("Result")

_logger = logging.getLogger(__name__)

RETRY_TIMEOUT_S: Final = 30.0
"""How long an operation of a run is retried while a server restarts, fails over or is cut off."""
START_RETRY_TIMEOUT_S: Final = 6.0
"""The same before a run begins, when nothing is lost by giving up."""
MAX_PAUSE_S: Final = 1.0

_TRANSIENT_MESSAGES: Final = (
    "connection refused",
    "no such file or directory",
    "starting up",
    "shutting down",
    "recovery",
    "closed the connection",
    "terminating connection",
    "too many clients",
    "read-only",
)
"""Parts of error messages of an outage that may end within seconds."""

_ADVICE: Final = {
    "password": "check user and password in SUPERVISE_DATABASE_URL",
    "no pg_hba.conf entry": "add ?sslmode=require to SUPERVISE_DATABASE_URL, or allow this user",
    "ssl": "set sslmode in SUPERVISE_DATABASE_URL to what the server offers",
    "certificate": "set sslrootcert in SUPERVISE_DATABASE_URL",
    "does not exist": "create it, or correct SUPERVISE_DATABASE_URL",
    "permission denied": "allow this user to create tables in its schema",
    "read-only": "name the primary server in SUPERVISE_DATABASE_URL",
    "refused": "start the server, or correct host and port in SUPERVISE_DATABASE_URL",
    "too many clients": "raise max_connections, or run less in parallel",
}


def is_transient(error: BaseException) -> bool:
    """Return whether a failed operation of a run should be retried."""
    passing = (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        errors.ReadOnlySqlTransaction,
        errors.IdleInTransactionSessionTimeout,
    )
    return isinstance(error, passing) and not isinstance(error, errors.InsufficientPrivilege)


def is_brief_outage(error: BaseException) -> bool:
    """Return whether a failed start should be retried for seconds: not after a wrong password."""
    return is_transient(error) and any(part in str(error).lower() for part in _TRANSIENT_MESSAGES)


async def retry_operation(
    work: Callable[[], Awaitable[Result]],
    *,
    url: str,
    patience_s: float = RETRY_TIMEOUT_S,
    worth: Callable[[BaseException], bool] = is_transient,
) -> Result:
    """Run an operation that may be repeated, with retries while the server is unavailable.

    Raises:
        StoreError: it failed permanently, or for longer than `patience_s`.
    """
    last: Exception | None = None
    pause_s = 0.05
    try:
        async with asyncio.timeout(patience_s):
            while True:
                try:
                    return await work()
                except psycopg.Error as error:
                    if not worth(error):
                        raise build_store_error(url, error) from error
                    if last is None:
                        _log_retry(url, error, patience_s)
                    last = error
                await asyncio.sleep(random.uniform(pause_s / 2, pause_s))
                pause_s = min(2 * pause_s, MAX_PAUSE_S)
    except TimeoutError:
        raise log_lost_store(build_store_error(url, last, waited_s=patience_s)) from last


def _log_retry(url: str, error: Exception, patience_s: float) -> None:
    cause = mask_passwords(" ".join(str(error).split()), url)
    _logger.warning(
        "the run database %s does not answer, retrying for up to %g s: %s",
        format_public_address(url),
        patience_s,
        redact_text(cause),
    )


def build_store_error(url: str, error: Exception | None, *, waited_s: float = 0.0) -> StoreError:
    """Build the error of a database that cannot be used, with a fix and without its password."""
    reason = " ".join(str(error or "no answer").split())
    cause = mask_passwords(reason.partition(" Is the server running")[0], url)
    waiting = f" (tried for {waited_s:g} s)" if waited_s else ""
    advice = next((fix for sign, fix in _ADVICE.items() if sign in cause.lower()), "")
    return StoreError(
        f"the run database {format_public_address(url)} cannot be used{waiting}",
        cause=cause.removeprefix("connection failed: "),
        kept="what was saved before",
        next=advice or "check the server; `supervise doctor` shows more",
    )


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
