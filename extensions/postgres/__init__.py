"""Runs in PostgreSQL: for several machines, and for servers that share a database."""

from graph.extensions import Extension, RunStores


class _Postgres(Extension):
    def get_run_stores(self) -> RunStores:
        """Return what opens databases; its libraries load only where one is opened."""
        from extensions.postgres.run_stores import PostgresStores

        return PostgresStores()


EXTENSION = _Postgres()
