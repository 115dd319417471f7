"""How busy the workers of a team are, and how long their work has lately taken.

What this process does is counted here; the store tells of other processes and of earlier ones. It
is advice for whoever chooses a worker: a record that is lost or late makes a choice a little worse,
never wrong.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from langgraph.store.base import BaseStore

from nodes.events import now_s
from state import Team, Worker

WEIGHT: Final = 0.3
"""Of the newest attempt in the moving average of a worker's seconds."""
FRESH_S: Final = 120.0
"""After it another process's work in flight is taken for a process that died."""
FLUSH_S: Final = 1.0
"""Between two writes to the store while work goes on."""
_PROCESS: Final = uuid4().hex[:12]


@dataclass(frozen=True)
class Load:
    """What a worker has to do."""

    in_flight: int = 0
    """Attempts under way, in all runs."""
    latency_s: float | None = None
    """Seconds of an attempt lately; None while none is known."""

    def words(self) -> str:
        """Say it as a clause; empty when nothing is known."""
        lately = "" if self.latency_s is None else f"{self.latency_s:.1f} s lately"
        return ", ".join(
            filter(None, [f"{self.in_flight} at work" if self.in_flight else "", lately])
        )


@dataclass
class Capacity:
    """The load of one team's workers."""

    team: str
    _in_flight: Counter[str] = field(default_factory=Counter)
    _latency_s: dict[str, float] = field(default_factory=dict)
    _elsewhere: dict[str, int] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)
    _flushing: asyncio.Task[None] | None = None

    def load(self, worker: str) -> Load:
        """Give a worker's load, as far as it is known."""
        in_flight = self._in_flight[worker] + self._elsewhere.get(worker, 0)
        return Load(in_flight, self._latency_s.get(worker))

    def told(self, team: Team) -> dict[str, str]:
        """Say of each worker that something is known of how busy it is."""
        said = {worker.name: self.load(worker.name).words() for worker in team.roster}
        return {name: words for name, words in said.items() if words}

    @contextmanager
    def working(self, worker: str, store: BaseStore | None) -> Iterator[None]:
        """Count an attempt while it is under way, and its seconds afterwards."""
        began = time.monotonic()
        self._in_flight[worker] += 1
        self._note(worker, store)
        try:
            yield
        finally:
            self._in_flight[worker] -= 1
            seconds = time.monotonic() - began
            before = self._latency_s.get(worker, seconds)
            self._latency_s[worker] = before + WEIGHT * (seconds - before)
            self._note(worker, store)

    async def read(self, store: BaseStore | None) -> None:
        """Learn from the store what other processes do, and what earlier ones took."""
        if store is None:
            return
        for item in await store.asearch(self._namespace, limit=100):
            at_work = _others(item.value)
            self._elsewhere[item.key] = sum(count for count, _ in at_work.values())
            if isinstance(seconds := item.value.get("latency_s"), int | float):
                self._latency_s.setdefault(item.key, float(seconds))

    async def keep(self, store: BaseStore | None) -> None:
        """Write what has changed into the store."""
        changed, self._changed = self._changed, set()
        if store is None:
            return
        for worker in sorted(changed):
            kept = await store.aget(self._namespace, worker)
            at_work: dict[str, Any] = _others(kept.value if kept else {})
            if count := self._in_flight[worker]:
                at_work[_PROCESS] = (count, now_s())
            value = {"latency_s": self._latency_s.get(worker), "at_work": at_work}
            await store.aput(self._namespace, worker, value, index=False)

    @property
    def _namespace(self) -> tuple[str, ...]:
        return ("capacity", self.team)

    def _note(self, worker: str, store: BaseStore | None) -> None:
        self._changed.add(worker)
        if store is not None and (self._flushing is None or self._flushing.done()):
            self._flushing = asyncio.get_running_loop().create_task(self._flush(store))

    async def _flush(self, store: BaseStore) -> None:
        await asyncio.sleep(FLUSH_S)
        try:
            await self.keep(store)
        except Exception:  # advice only, and the run that opened the store may have closed it
            self._changed.clear()


_capacities: dict[str, Capacity] = {}


def capacity_of(team: Team) -> Capacity:
    """Give the load of a team's workers in this process."""
    return _capacities.setdefault(team.name, Capacity(team.name))


def idler(worker: Worker, team: Team, capacity: Capacity) -> Worker:
    """Give a busy worker's fallback when that one is idle; else the worker."""
    if not (team.prefer_idle and worker.fallback and capacity.load(worker.name).in_flight):
        return worker
    other = team.worker(worker.fallback)
    return worker if capacity.load(other.name).in_flight else other


def _others(value: Mapping[str, Any]) -> dict[str, tuple[int, float]]:
    """Read what other living processes have in flight."""
    told = value.get("at_work")
    now = now_s()
    return {
        process: (int(count), float(at))
        for process, (count, at) in (told.items() if isinstance(told, Mapping) else ())
        if process != _PROCESS and now - float(at) < FRESH_S
    }
