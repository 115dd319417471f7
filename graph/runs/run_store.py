"""The run database that the settings name, opened for one thread."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from langgraph.store.base import BaseStore

from graph.extensions import get_run_stores
from graph.settings import Settings
from graph.stores.run_database import RunDatabase
from graph.stores.sqlite import build_store, open_sqlite
from graph.stores.sqlite_lock import limit_wait_s
from graph.stores.thread_locks import lock_thread
from nodes.errors import StoreError


@asynccontextmanager
async def open_database(
    thread: str, settings: Settings, *, left_s: float | None = None
) -> AsyncIterator[RunDatabase]:
    """Open the run database for a thread, and lock the thread until it is closed.

    Args:
        left_s: until the run's deadline, beyond which a file that is locked is not waited for.

    Raises:
        ThreadBusy: another caller runs the thread.
        StoreError: the database cannot be used.
    """
    with lock_thread(thread, settings.home):
        if settings.postgres_url:
            opened = get_run_stores().open(settings.postgres_url, thread)
        else:
            opened = open_sqlite(settings.resolve_database_path(), limit_wait_s(left_s))
        async with opened as database:
            yield database


def build_run_store(settings: Settings) -> AbstractAsyncContextManager[BaseStore]:
    """Return the store of the run database, beside runs at work: no thread is locked."""
    if settings.postgres_url:
        return get_run_stores().open_store(settings.postgres_url)
    return build_store(settings.resolve_database_path())


@asynccontextmanager
async def open_readable_store(settings: Settings) -> AsyncIterator[BaseStore | None]:
    """Yield the store of the run database to read from; None where there is none to read."""
    if not (settings.postgres_url or settings.resolve_database_path().exists()):
        yield None
        return
    async with build_run_store(settings) as store:
        try:
            await store.asearch(("threads",), limit=1)
        except (StoreError, sqlite3.Error):
            yield None
        else:
            yield store
