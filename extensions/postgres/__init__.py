"""Runs in PostgreSQL: for several machines, and for servers that share a database."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graph.extensions import Extension, RunStores

if TYPE_CHECKING:
    from graph.around_run import AroundRun
    from graph.settings import Settings


class _Postgres(Extension):
    def get_run_stores(self) -> RunStores:
        """Return what opens databases; its libraries load only where one is opened."""
        from extensions.postgres.store import PostgresStores

        return PostgresStores()

    def list_around_runs(self, settings: "Settings") -> Iterable["AroundRun"]:
        """Let one start of a server's run write to its thread."""
        from extensions.postgres.thread_claim import ClaimThread

        return (ClaimThread(),)


EXTENSION = _Postgres()
