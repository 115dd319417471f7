"""Watches the processes of a cluster under load: memory, processor, connections, sizes, answers."""

import http.client
import os
import statistics
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psycopg
import redis

from tests.cluster.cluster import Cluster

INTERVAL_S: Final = 0.5
TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
COUNT_CONNECTIONS: Final = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND pid <> pg_backend_pid()"
)
MEASURE_DATABASE: Final = """
SELECT (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace)::float8,
       (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())::float8,
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8
"""


@dataclass(frozen=True)
class Sample:
    """What was seen at a moment."""

    at_s: float
    memory: tuple[int, ...]
    """Resident bytes of each instance."""
    files: tuple[int, ...]
    """Open file handles of each instance, sockets included."""
    connections: int
    """Of all instances to the database."""
    redis_bytes: int
    answered_s: tuple[float, ...]
    """How long each instance took to answer `/live`, which needs nothing but its event loop."""


@dataclass(frozen=True)
class Totals:
    """What only grows; the difference of two is what happened in between."""

    instances_s: tuple[float, ...] = ()
    """Processor seconds of each instance."""
    postgres_s: float = 0.0
    redis_s: float = 0.0
    database_bytes: float = 0.0
    transactions: float = 0.0
    log_bytes: float = 0.0
    """Of the write-ahead log."""


@dataclass
class Watch:
    """Samples a cluster in a thread for as long as its block lasts."""

    cluster: Cluster
    samples: list[Sample] = field(default_factory=list)
    before: Totals = field(default_factory=Totals)
    after: Totals = field(default_factory=Totals)

    def __enter__(self) -> Self:
        self._ending = threading.Event()
        self.before = self._measure_totals()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        self._thread.join()
        if kind is None:
            self.after = self._measure_totals()

    def _run(self) -> None:
        with (
            psycopg.connect(self.cluster.postgres.url, autocommit=True) as database,
            self.cluster.redis.connect() as cache,
        ):
            while not self._ending.wait(INTERVAL_S):
                self.samples.append(self._take_sample(database, cache))

    def _take_sample(self, database: psycopg.Connection, cache: redis.Redis) -> Sample:
        instances = self.cluster.instances
        [found] = database.execute(COUNT_CONNECTIONS).fetchall()
        return Sample(
            at_s=time.monotonic(),
            memory=tuple(each.memory_bytes() for each in instances),
            files=tuple(len(os.listdir(f"/proc/{each.pid}/fd")) for each in instances),
            connections=found[0] - 1,  # this thread's own
            redis_bytes=int(cache.info("memory")["used_memory"]),
            answered_s=tuple(_time_answer(each.port) for each in instances),
        )

    def _measure_totals(self) -> Totals:
        [(stored, commits, log)] = self.cluster.postgres.run_query(MEASURE_DATABASE)
        postmaster = (self.cluster.postgres.folder / "postmaster.pid").read_text().split()[0]
        with self.cluster.redis.connect() as cache:
            redis_pid = int(cache.info("server")["process_id"])
        return Totals(
            instances_s=tuple(_read_processor_s([each.pid]) for each in self.cluster.instances),
            postgres_s=_read_processor_s(_list_family(int(postmaster))),
            redis_s=_read_processor_s([redis_pid]),
            database_bytes=float(str(stored)),
            transactions=float(str(commits)),
            log_bytes=float(str(log)),
        )


def compute_growth(values: Sequence[float]) -> float:
    """Return by what share the last third of a series is above its middle third, by medians."""
    third = len(values) // 3
    if not third:
        return 0.0
    middle, last = values[third : 2 * third], values[-third:]
    return statistics.median(last) / statistics.median(middle) - 1


def _time_answer(port: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    began_s = time.monotonic()
    try:
        connection.request("GET", "/live")
        connection.getresponse().read()
    finally:
        connection.close()
    return time.monotonic() - began_s


def _read_processor_s(pids: Iterable[int]) -> float:
    """Return the processor seconds of processes, with those of children that have ended."""
    return sum(sum(map(int, _read_stat(pid)[11:15])) for pid in pids) / TICKS_PER_S


def _list_family(parent: int) -> list[int]:
    names = [int(name.name) for name in Path("/proc").iterdir() if name.name.isdecimal()]
    return [parent, *(pid for pid in names if (stat := _read_stat(pid)) and int(stat[1]) == parent)]


def _read_stat(pid: int) -> list[str]:
    """Return the fields of a process from its state on; nothing if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
