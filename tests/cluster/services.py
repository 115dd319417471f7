"""The services that instances share: a PostgreSQL and a Redis of their own on free ports."""

import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

import redis

from tests import postgres_server
from tests.cluster.environment import ClusterUnavailable
from tests.local_servers import find_free_port

START_TIMEOUT_S: Final = 20.0
MAX_CONNECTIONS: Final = 400


class PostgresServer(postgres_server.PostgresServer):
    """A PostgreSQL server with a database for Aegra; `stop`, `restart` and `kill` are crashes."""

    database: Final = "aegra"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        url = self.build_url()
        postgres_server.run_query(url, f"ALTER SYSTEM SET max_connections = {MAX_CONNECTIONS}")
        postgres_server.run_query(url, f"CREATE DATABASE {self.database}")
        self.restart("fast")

    @property
    def url(self) -> str:
        """The address of Aegra's database."""
        return self.build_url().removesuffix("/postgres") + f"/{self.database}"

    def kill(self) -> None:
        """Stop it as a crash does."""
        self.stop("immediate")

    def run_query(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """Return the rows of a query in Aegra's database."""
        return postgres_server.run_query(self.url, sql, *values)


class RedisServer:
    """A Redis server, empty after each start."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise ClusterUnavailable("redis-server is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.port = folder, find_free_port()
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """The address of its first database."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, and return when it answers."""
        command = [self._program, "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        with (self.folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        gives_up_s = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > gives_up_s:
                raise RuntimeError(f"Redis did not start, see {self.folder / 'redis.log'}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop it in order; what it held is lost."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Stop it as a crash does."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Stop it as a crash does, and start it again, empty."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """Let it answer no more, with its connections open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it answer again."""
        self._signal(signal.SIGCONT)

    def connect(self) -> redis.Redis:
        """Return a client of it, which the caller closes."""
        return redis.Redis.from_url(self.url, socket_timeout=5)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(10)
            self._process = None

    def _answers(self) -> bool:
        try:
            with self.connect() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False
