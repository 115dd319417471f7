"""What the main house asks of PostgreSQL; psycopg is imported where it is needed."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any

from langgraph.store.base import BaseStore

from graph.stores.run_database import RunDatabase


class PostgresStores:
    """See `graph.extensions.RunStores`."""

    def open(self, url: str, thread: str) -> AbstractAsyncContextManager[RunDatabase]:
        """Open a database for one thread, and lock the thread in it."""
        from extensions.postgres.store import open_postgres

        return open_postgres(url, thread)

    def open_store(self, url: str) -> AbstractAsyncContextManager[BaseStore]:
        """Open the store for all threads."""
        from extensions.postgres.store import build_store

        return build_store(url)

    async def read_value(self, url: str, namespace: tuple[str, ...], key: str) -> dict[str, Any]:
        """Return one value of the store."""
        from extensions.postgres.store import read_store_value

        return await read_store_value(url, namespace, key)

    def open_for_deletion(self, url: str) -> AbstractContextManager[Callable[[str], int]]:
        """Open a database for removing threads."""
        from extensions.postgres.maintenance import open_for_deletion

        return open_for_deletion(url)

    def describe(self, url: str) -> str:
        """Return the server's version and the size of the database."""
        from extensions.postgres.maintenance import describe_database

        return describe_database(url)
