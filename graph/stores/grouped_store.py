"""LangGraph's store on the connection of a file's checkpointer; imported late, as it is slow.

Its writes join the groups of the checkpointer: one commit, one connection, and one thread for all
runs of a process.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path

from filelock import FileLock
from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.sqlite import SqliteStore

from graph.stores.group_commit import GroupCommitSaver
from graph.stores.sqlite_file import distrust_schema
from graph.stores.sqlite_lock import TRY_S


class _GroupedSqliteStore(SqliteStore):
    """Leaves begin and commit to the group."""

    @contextmanager
    def _cursor(self, *, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        with self.lock, closing(self.conn.cursor()) as cursor:
            yield cursor


class GroupedStore(BaseStore):
    """A store whose operations run on the thread of a saver; a saver has one."""

    supports_ttl = True

    def __init__(self, saver: GroupCommitSaver) -> None:
        self._saver = saver

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Refuse: `LazyStore`, which is before this one, runs operations of other threads."""
        raise NotImplementedError("operations are asynchronous here: use abatch")

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations, saved when this returns.

        Raises:
            StoreError: the database failed, or is closed.
        """
        asked = list(ops)
        is_write = any(isinstance(op, PutOp) for op in asked)
        return await self._saver.run_job(lambda: self._store.batch(asked), None, is_write=is_write)

    @cached_property
    def _store(self) -> SqliteStore:
        store = _GroupedSqliteStore(self._saver.conn)
        store.lock, store.is_setup = self._saver.lock, True
        return store


class _InOneTransaction(sqlite3.Connection):
    """Does not commit before a script: those of the library are single statements."""

    def executescript(self, sql: str, /) -> sqlite3.Cursor:
        return self.execute(sql)


def set_up_tables(path: Path) -> None:
    """Make the tables of the store in a file, or bring them up to date: whole, or not at all.

    Raises:
        sqlite3.Error: the file is locked, damaged or not writable.
    """
    with (
        # Two processes that migrate one file at the same time would conflict.
        FileLock(f"{path}.store.lock", mode=0o600),
        closing(
            sqlite3.connect(path, timeout=TRY_S, isolation_level=None, factory=_InOneTransaction)
        ) as connection,
    ):
        distrust_schema(connection)
        connection.execute("PRAGMA synchronous = FULL")
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            SqliteStore(connection).setup()
