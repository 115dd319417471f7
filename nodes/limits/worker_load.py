"""How busy the workers of a team are, and how long their work has lately taken.

What this process does is counted here; the store tells of other processes and of earlier ones. It
is advice for whoever chooses a worker: a record that is lost or late makes a choice a little worse,
never wrong.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from langgraph.store.base import BaseStore

from nodes.limits.deadline import now_s
from nodes.limits.recorder import is_replayed, read_outside
from nodes.schemas.team import Team, Worker

MOVING_AVERAGE_WEIGHT: Final = 0.3
"""Of the newest attempt in the moving average of a worker's seconds."""
HALF_LIFE_S: Final = 300.0
"""After it a record of a worker's seconds counts half, after four times it not at all."""
STALE_AFTER_S: Final = 120.0
"""After it another process's work in flight is taken for a process that died."""
FLUSH_INTERVAL_S: Final = 1.0
"""Between two writes to the store while attempts run."""
_PROCESS_ID: Final = uuid4().hex[:12]


@dataclass(frozen=True)
class WorkerLoad:
    """What a worker has to do."""

    in_flight: int = 0
    """Attempts in flight, in all runs."""
    latency_s: float | None = None
    """Seconds of an attempt lately; None while none is known."""

    def describe(self) -> str:
        """Return it as a clause; empty when nothing is known."""
        lately = "" if self.latency_s is None else f"{self.latency_s:.1f} s lately"
        return ", ".join(
            filter(None, [f"{self.in_flight} at work" if self.in_flight else "", lately])
        )


@dataclass(frozen=True)
class LatencyRecord:
    """What a worker's attempts have taken, and when the last of them ended."""

    seconds: float
    ended_at: float

    def compute_weight(self, now: float) -> float:
        """Return how much the record counts at a moment: 1 when it is new, 0 when it is too old."""
        half_lives = max(0.0, now - self.ended_at) / HALF_LIFE_S
        return 0.5**half_lives if half_lives < 4 else 0.0

    def add_attempt(self, seconds: float, now: float) -> "LatencyRecord":
        """Return the record with an attempt that ends now; the older it is, the less it keeps."""
        kept = (1 - MOVING_AVERAGE_WEIGHT) * self.compute_weight(now)
        return LatencyRecord(kept * self.seconds + (1 - kept) * seconds, now)


@dataclass
class TeamLoad:
    """The load of one team's workers."""

    team: str
    clock: Callable[[], float] = now_s
    unavailable: dict[str, str] = field(default_factory=dict)
    """Why a worker on another server, or with tools of one, cannot be used now, by its name."""
    probed_at: dict[str, float] = field(default_factory=dict)
    """When the server of such a worker was asked last."""
    _in_flight: Counter[str] = field(default_factory=Counter)
    _latencies: dict[str, LatencyRecord] = field(default_factory=dict)
    _in_flight_elsewhere: dict[str, int] = field(default_factory=dict)
    _changed_workers: set[str] = field(default_factory=set)
    _flush_task: asyncio.Task[None] | None = None

    def measure_load(self, worker: str, *, planned: int = 0) -> WorkerLoad:
        """Return a worker's load, as far as it is known, with attempts that are about to begin."""

        def measure() -> list[Any]:
            latency_s, weight = self._read_latency(worker)
            return [self._count(worker, planned), latency_s if weight else None]

        return WorkerLoad(*read_outside(f"load of {worker}", measure, usual=[0, None]))

    def _count(self, worker: str, planned: int) -> int:
        return self._in_flight[worker] + self._in_flight_elsewhere.get(worker, 0) + planned

    def estimate_waits(
        self, workers: Sequence[str], *, planned: Mapping[str, int] | None = None
    ) -> dict[str, float]:
        """Return the seconds until each worker is expected to be done with one more attempt.

        A worker of unknown speed is taken to be as fast as the others are on average, and so, more
        and more, is one whose last attempt is long ago: one slow attempt must not keep work away
        from it for good.

        Args:
            planned: attempts of each worker that are about to begin.
        """
        return read_outside("waits", lambda: self._estimate_waits(workers, planned or {}))

    def _estimate_waits(self, workers: Sequence[str], soon: Mapping[str, int]) -> dict[str, float]:
        latencies = {name: self._read_latency(name) for name in workers}
        known = sum(weight for _, weight in latencies.values())
        usual_s = sum(s * weight for s, weight in latencies.values()) / known if known else 1.0
        return {
            name: (self._count(name, soon.get(name, 0)) + 1)
            * (usual_s + weight * (seconds - usual_s))
            for name, (seconds, weight) in latencies.items()
        }

    def describe_loads(self, team: Team) -> dict[str, str]:
        """Return the load of each worker whose load is known."""
        said = {worker.name: self.measure_load(worker.name).describe() for worker in team.roster}
        names = self.list_unavailable()
        said |= dict.fromkeys(names, "unavailable: choose another one where one fits")
        return {name: words for name, words in said.items() if words}

    def list_unavailable(self) -> dict[str, str]:
        """Return why workers on other servers cannot be used now, by name."""
        return read_outside("unavailable", lambda: dict(self.unavailable), usual={})

    @contextmanager
    def count_attempt(self, worker: str, store: BaseStore | None) -> Iterator[None]:
        """Count an attempt while it runs, and its seconds afterwards."""
        if is_replayed():
            yield
            return
        began = self.clock()
        self._in_flight[worker] += 1
        self._schedule_save(worker, store)
        try:
            yield
        finally:
            self._in_flight[worker] -= 1
            now = self.clock()
            before = self._latencies.get(worker, LatencyRecord(now - began, now))
            self._latencies[worker] = before.add_attempt(now - began, now)
            self._schedule_save(worker, store)

    async def load_from_store(self, store: BaseStore | None) -> None:
        """Learn from the store what other processes do, and what earlier ones took."""
        if store is None:
            return
        for item in await store.asearch(self._namespace, limit=100):
            at_work = self._read_other_processes(item.value)
            self._in_flight_elsewhere[item.key] = sum(count for count, _ in at_work.values())
            seconds, ended_at = item.value.get("latency_s"), item.value.get("ended_at")
            if isinstance(seconds, int | float) and isinstance(ended_at, int | float):
                kept = LatencyRecord(float(seconds), float(ended_at))
                known = self._latencies.get(item.key, kept)
                self._latencies[item.key] = max(known, kept, key=lambda each: each.ended_at)

    async def save_to_store(self, store: BaseStore | None) -> None:
        """Write what has changed into the store."""
        changed, self._changed_workers = self._changed_workers, set()
        if store is None:
            return
        for worker in sorted(changed):
            kept = await store.aget(self._namespace, worker)
            at_work: dict[str, Any] = self._read_other_processes(kept.value if kept else {})
            if count := self._in_flight[worker]:
                at_work[_PROCESS_ID] = (count, self.clock())
            record = self._latencies.get(worker)
            latency = {"latency_s": record.seconds, "ended_at": record.ended_at} if record else {}
            await store.aput(self._namespace, worker, {**latency, "at_work": at_work}, index=False)

    @property
    def _namespace(self) -> tuple[str, ...]:
        return ("capacity", self.team)

    def _read_latency(self, worker: str) -> tuple[float, float]:
        """Return what a worker's attempts took, and how much that counts now."""
        record = self._latencies.get(worker)
        return (record.seconds, record.compute_weight(self.clock())) if record else (0.0, 0.0)

    def _read_other_processes(self, value: Mapping[str, Any]) -> dict[str, tuple[int, float]]:
        """Read what other living processes have in flight."""
        told = value.get("at_work")
        now = self.clock()
        return {
            process: (int(count), float(at))
            for process, (count, at) in (told.items() if isinstance(told, Mapping) else ())
            if process != _PROCESS_ID and now - float(at) < STALE_AFTER_S
        }

    def _schedule_save(self, worker: str, store: BaseStore | None) -> None:
        self._changed_workers.add(worker)
        if store is not None and (self._flush_task is None or self._flush_task.done()):
            self._flush_task = asyncio.get_running_loop().create_task(self._save_changes(store))

    async def _save_changes(self, store: BaseStore) -> None:
        try:
            while self._changed_workers:
                await self.save_to_store(store)
                await asyncio.sleep(FLUSH_INTERVAL_S)
        except Exception:  # advice only, and the run that opened the store may have closed it
            self._changed_workers.clear()


_team_loads: dict[tuple[str, ...], TeamLoad] = {}


def get_team_load(team: Team) -> TeamLoad:
    """Return the load of a team's workers in this process, of all graphs that run the team.

    Each `run` compiles a graph of its own, so no graph can own it. Two teams of one name that have
    other workers have loads of their own.
    """
    workers = (text for worker in team.roster for text in (worker.name, worker.description))
    return _team_loads.setdefault((team.name, *workers), TeamLoad(team.name))


def choose_least_busy_worker(worker: Worker, team: Team, capacity: TeamLoad) -> Worker:
    """Return a busy worker's fallback, or that one's, if it is expected to be done sooner.

    An idle worker keeps its work, however slow it is: it was chosen for it.
    """
    if not (team.prefer_idle and capacity.measure_load(worker.name).in_flight):
        return worker
    pool = _follow_fallbacks(worker, team)
    waits = capacity.estimate_waits([each.name for each in pool])
    return min(pool, key=lambda each: waits[each.name])


def list_interchangeable_workers(worker: Worker, team: Team) -> list[Worker]:
    """Return the other workers in a circle of fallbacks: each can do what the others can."""
    pool = _follow_fallbacks(worker, team)
    return pool[1:] if pool[-1].fallback == worker.name else []


def _follow_fallbacks(worker: Worker, team: Team) -> list[Worker]:
    """Return a worker, its fallback, the fallback of that one and so on, each once."""
    pool = [worker]
    while (name := pool[-1].fallback) and name not in [each.name for each in pool]:
        pool.append(team.find_worker(name))
    return pool
