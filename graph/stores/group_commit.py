"""LangGraph's SQLite checkpointer: one thread that commits in groups, large values saved once.

`AsyncSqliteSaver` switches to its thread four times for each write and commits each separately.
Here a write switches once, and all waiting writes share one commit, the expensive disk operation.
A write returns when it is on disk. The tables are the library's own, and one of large values.
"""

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.base import BaseStore

from graph.stores.errors import build_failure_error, build_unreadable_error, log_lost_store
from graph.stores.sqlite_lock import DatabaseLocked, choose_wait_s, retry_while_locked
from graph.stores.threaded_saver import ThreadedSaver
from nodes.errors import StoreError

VALUES_TABLE: Final = "supervise_values"
CREATE_VALUES_TABLE: Final = (
    f"CREATE TABLE IF NOT EXISTS {VALUES_TABLE} (thread_id TEXT NOT NULL, hash BLOB NOT NULL, "
    "type TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (thread_id, hash))"
)
MIN_BYTES: Final = 200
"""Of an encoded value that is saved on its own; a reference takes about 50 bytes."""
_REFERENCES_KEY: Final = "supervise_values"
"""In a checkpoint: hash by channel."""
_HASH_BYTES: Final = 16


class ValueSaver(SqliteSaver):
    """Saves each large channel value once a thread, in a table of its own, by its hash.

    LangGraph's writes the values of all channels into every checkpoint: documents, plan and reports
    of a run again after each superstep. Here a checkpoint refers to a large value by its hash.
    """

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint, and those of its large values that the thread does not have yet."""
        thread = str(config["configurable"]["thread_id"])
        small, references = dict[str, Any](), dict[str, bytes]()
        with self.cursor() as cursor:
            for channel, value in checkpoint["channel_values"].items():
                kind, data = self.serde.dumps_typed(value)
                if len(data) < MIN_BYTES:
                    small[channel] = value
                    continue
                digest = blake2b(kind.encode() + data, digest_size=_HASH_BYTES).digest()
                references[channel] = digest
                cursor.execute(
                    f"INSERT OR IGNORE INTO {VALUES_TABLE} VALUES (?, ?, ?, ?)",
                    (thread, digest, kind, data),
                )
        kept = {**checkpoint, "channel_values": small, _REFERENCES_KEY: references}
        return super().put(config, cast(Checkpoint, kept), metadata, new_versions)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint."""
        found = super().get_tuple(config)
        return found and self._resolve_references(found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, the newest first."""
        for found in super().list(config, filter=filter, before=before, limit=limit):
            yield self._resolve_references(found)

    def delete_thread(self, thread_id: str) -> None:
        """Remove all that a thread has saved."""
        super().delete_thread(thread_id)
        with self.cursor() as cursor:
            cursor.execute(f"DELETE FROM {VALUES_TABLE} WHERE thread_id = ?", (str(thread_id),))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the history of delta channels; the library's query reads values in place."""
        return BaseCheckpointSaver.get_delta_channel_history(self, config=config, channels=channels)

    def _resolve_references(self, found: CheckpointTuple) -> CheckpointTuple:
        """Put a checkpoint's large values in their place.

        Raises:
            ValueError: one is missing.
        """
        references = cast(dict[str, Any], found.checkpoint).pop(_REFERENCES_KEY, {})
        thread = found.config["configurable"]["thread_id"]
        for channel, digest in references.items():
            row = self.conn.execute(
                f"SELECT type, value FROM {VALUES_TABLE} WHERE thread_id = ? AND hash = ?",
                (str(thread), digest),
            ).fetchone()
            if row is None:
                raise ValueError(f"the value of {channel} is missing")
            found.checkpoint["channel_values"][channel] = self.serde.loads_typed(row)
        return found


Result = TypeVar("Result")

_REQUIRED_KEYS: Final = frozenset(
    ("v", "id", "channel_values", "channel_versions", "versions_seen")
)


@dataclass(frozen=True)
class _SaveJob:
    work: Callable[[], Any]
    thread: str
    gives_up_s: float
    """How long it may wait while another program has locked the file, on the monotonic clock."""
    is_write: bool
    loop: asyncio.AbstractEventLoop
    outcome: asyncio.Future[Any]

    def settle_outcome(self, result: Any, error: BaseException | None) -> None:
        """Pass the outcome to the waiting loop, unless it is closed."""
        with suppress(RuntimeError):  # it is closed
            self.loop.call_soon_threadsafe(self._set_outcome, result, error)

    def _set_outcome(self, result: Any, error: BaseException | None) -> None:
        if self.outcome.done():
            return
        if error is not None:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(result)


class GroupCommitSaver(ThreadedSaver, ValueSaver):
    """Saves checkpoints from async code; open it with `graph.stores.sqlite.open_saver`.

    Runs of one process share it, from any event loop. A failure of SQLite is raised as
    `StoreError`.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path, *, serde: SerializerProtocol | None = None
    ) -> None:
        super().__init__(connection, serde=serde)
        self.path, self.users, self._file_identity = path, 0, _get_file_identity(path)
        self.store: BaseStore | None = None
        """On the same connection; None until it is needed."""
        self._jobs: queue.SimpleQueue[_SaveJob | None] = queue.SimpleQueue()
        self._is_grouping = self._is_closed = False
        self._locked_out = set[str]()
        """Threads of which a job has waited too long for the file; their next ones wait no more."""
        self._thread = threading.Thread(target=self._run_jobs, name="checkpoints", daemon=True)
        self._thread.start()

    @property
    def has_its_file(self) -> bool:
        """Whether its file is still there: SQLite writes on to one that was removed."""
        return _get_file_identity(self.path) == self._file_identity

    async def close(self) -> None:
        """Finish waiting jobs, then close the connection; later jobs are refused."""
        self._is_closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
        self.conn.close()

    def abandon(self) -> None:
        """End the thread of a saver that has no user; its connection closes with it."""
        self._is_closed = True
        self._jobs.put(None)

    async def flush(self) -> None:
        """Wait until the jobs that are queued now have ended."""
        with suppress(StoreError):
            await self.read(lambda _: None)

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Yield a cursor; inside a group the commit happens at the group's end.

        A synchronous caller on another thread commits itself, since the group may have ended.
        """
        is_grouped = self._is_grouping and threading.current_thread() is self._thread
        with super().cursor(transaction and not is_grouped) as cursor:
            yield cursor

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint.

        Raises:
            CheckpointUnreadable: its bytes are damaged.
        """
        try:
            found = super().get_tuple(config)
            if found and not found.checkpoint.keys() >= _REQUIRED_KEYS:
                raise ValueError("the checkpoint lacks fields")
            return found
        except sqlite3.Error:
            raise
        except Exception as error:  # each decoder has its own
            raise build_unreadable_error(config, self._find_checkpoint_id(config), error) from error

    async def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what `work` reads from the connection, among the other jobs.

        Raises:
            StoreError: the database cannot be read.
        """
        return await self.run_job(lambda: work(self.conn), None)

    async def run_job(
        self, work: Callable[[], Result], config: RunnableConfig | None, *, is_write: bool = False
    ) -> Result:
        """Return what `work` returns, on the saver's thread, and saved if it writes.

        Raises:
            StoreError: the database failed, or is closed.
        """
        if self._is_closed:
            raise StoreError(f"the run database {self.path} is closed and cannot save")
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Result] = loop.create_future()
        thread = str(config["configurable"]["thread_id"]) if config else ""
        wait_s = 0.0 if thread in self._locked_out else choose_wait_s(config)
        gives_up_s = time.monotonic() + wait_s
        self._jobs.put(_SaveJob(work, thread, gives_up_s, is_write, loop, outcome))
        try:
            return await outcome
        except sqlite3.Error as error:
            raise log_lost_store(build_failure_error(self.path, error)) from error

    def _find_checkpoint_id(self, config: RunnableConfig) -> str:
        """Return the id of a config's checkpoint: the one it names, or the newest."""
        place = config["configurable"]
        newest = self.conn.execute(
            "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?",
            (str(place["thread_id"]), place.get("checkpoint_ns", "")),
        ).fetchone()
        return str(place.get("checkpoint_id") or newest[0])

    def _run_jobs(self) -> None:
        left: list[_SaveJob] = []
        while group := [*left, *self._take_jobs(may_wait=not left)]:
            left = self._commit_group(group)

    def _take_jobs(self, *, may_wait: bool) -> list[_SaveJob]:
        """Return all queued jobs, after a wait for the first; empty when the saver closes."""
        group: list[_SaveJob] = []
        while (may_wait and not group) or not self._jobs.empty():
            job = self._jobs.get()
            if job is None:
                self._jobs.put(None)
                break
            group.append(job)
        return group

    def _commit_group(self, group: list[_SaveJob]) -> list[_SaveJob]:
        """Run jobs and save them together; return those that may still wait for the file."""
        left: list[_SaveJob] = []
        try:
            outcomes = self._run_group(group)
            with self.lock:
                self.conn.commit()
            if not self.has_its_file:
                raise sqlite3.OperationalError("the file was removed or replaced")
            self._locked_out.difference_update(job.thread for job in group)
        except DatabaseLocked as lost:
            now_s = time.monotonic()
            left = [job for job in group if job.gives_up_s > now_s]
            group = [job for job in group if job.gives_up_s <= now_s]
            self._locked_out.update(job.thread for job in group)
            # Each run adds to its error, so each has one of its own.
            outcomes = [(None, DatabaseLocked(lost.path, lost.cause)) for _ in group]
        except sqlite3.Error as lost:
            outcomes = [(None, lost)] * len(group)
        for job, (result, problem) in zip(group, outcomes, strict=True):
            job.settle_outcome(result, problem)
        return left

    def _run_group(self, group: list[_SaveJob]) -> list[tuple[Any, BaseException | None]]:
        """Return the outcome of each job.

        Raises:
            DatabaseLocked: another program has locked the file for longer than one may wait.
        """
        wait_s = max(0.0, min(job.gives_up_s for job in group) - time.monotonic())
        outcomes: list[tuple[Any, BaseException | None]] = []
        try:
            if any(job.is_write for job in group):
                retry_while_locked(self.path, self._begin, wait_s)
            self._is_grouping = True
            for job in group:
                try:
                    outcomes.append((retry_while_locked(self.path, job.work, wait_s), None))
                except DatabaseLocked:
                    raise
                except Exception as error:  # raised by the caller that waits for this job
                    outcomes.append((None, error))
        finally:
            self._is_grouping = False
        return outcomes

    def _begin(self) -> None:
        """Begin to write, so that only the first statement of a group can meet a lock."""
        with self.lock:  # a synchronous caller may be at work on the connection
            self.setup()
            if not self.conn.in_transaction:
                self.conn.execute("BEGIN IMMEDIATE")


def _get_file_identity(path: Path) -> tuple[int, int]:
    """Return a file's device and inode, since SQLite keeps writing to a removed file."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_dev, found.st_ino)
