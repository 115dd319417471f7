"""A cluster with the endpoint of its models, on which experiments are made one after another."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from langgraph_sdk.client import LangGraphClient

from graph.stores.serializer import build_strict_serializer
from graph.topology.saved_work import CHANNEL
from tests.cluster.cluster import Cluster
from tests.cluster.instance import Instance
from tests.cluster.workload import StartedRun, start_run, wait_for_ends
from tests.endpoint import Endpoint

WAIT_S = 60.0


@dataclass(frozen=True)
class Stage:
    """A cluster and an endpoint; no two runs on it have the same name."""

    cluster: Cluster
    endpoint: Endpoint
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def start_runs(self, runs: int, **more: Any) -> list[StartedRun]:
        """Start runs through the first server."""
        client = self.cluster.client(0)
        return [await start_run(client, f"r{next(self.numbers):03d}", **more) for _ in range(runs)]

    async def warm_up(self) -> None:
        """Let each server do runs, as its first one also loads what workers need."""
        runs = await self.start_runs(4)
        await wait_for_ends(self.cluster.client(0), runs)
        self.endpoint.clear_calls()

    async def start_held(self, **more: Any) -> tuple[StartedRun, Instance]:
        """Start a run; return it with the server that works on it."""
        [run] = await self.start_runs(1, **more)
        return run, await self.wait_for_holder(run.run)

    async def wait_for_holder(
        self, run: str, is_wanted: Callable[[Instance], bool] = lambda _: True
    ) -> Instance:
        """Return the server that works on a run, when there is one of those that are wanted."""
        async with asyncio.timeout(WAIT_S):
            while True:
                holder = self.cluster.find_holder(run)
                if holder is not None and is_wanted(holder):
                    return holder
                await asyncio.sleep(0.05)

    async def wait_for_saved(
        self, run: StartedRun, reports: int, *, prefix: str | None = None
    ) -> None:
        """Return when the database has so many reports of a run; its tasks have its name."""
        begin = run.name if prefix is None else prefix
        async with asyncio.timeout(WAIT_S):
            while True:
                if sum(task.startswith(begin) for task in self.list_saved_tasks()) >= reports:
                    return
                await asyncio.sleep(0.02)

    async def wait_for_call(self, task: str, *, schema: str = "Report") -> None:
        """Return when the endpoint has been asked for this of a task; for a plan it is no task."""
        async with asyncio.timeout(WAIT_S):
            while not self.endpoint.select_calls(schema, task):  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    def get_other_client(self, instance: Instance) -> LangGraphClient:
        """Return a client of a server that is not the given one."""
        others = [n for n, each in enumerate(self.cluster.instances) if each is not instance]
        return self.cluster.client(others[0])

    def list_held(self, runs: Sequence[StartedRun], instance: Instance) -> list[str]:
        """Return the names of those runs that an instance works on."""
        return [each.name for each in runs if self.cluster.find_holder(each.run) is instance]

    def list_saved_tasks(self) -> set[str]:
        """Return the tasks whose reports the database has."""
        rows: list[Any] = self.cluster.postgres.run_query(
            "SELECT type, blob FROM checkpoint_writes WHERE channel = %s", CHANNEL
        )
        serializer = build_strict_serializer()
        outputs: list[Any] = [serializer.loads_typed((kind, bytes(blob))) for kind, blob in rows]
        return {task for output in outputs for task in output["results"]}

    def count_questions(self, run: StartedRun) -> int:
        """Return how many questions of a run to a human the database has, also answered ones."""
        rows: list[Any] = self.cluster.postgres.run_query(
            "SELECT count(*) FROM checkpoint_writes "
            "WHERE channel = '__interrupt__' AND thread_id = %s",
            run.thread,
        )
        return int(rows[0][0])

    def count_begun(self, tasks: set[str], since_s: float) -> int:
        """Return the number of calls for some tasks that began later than a moment."""
        return sum(
            each.task in tasks and each.began_s > since_s
            for each in list(self.endpoint.requests)
            if each.schema == "Report"
        )

    def watch_takeover(self, runs: Sequence[StartedRun], lost: Instance) -> "asyncio.Task[float]":
        """Return the seconds from now until the last run that a server held is on another one.

        A run that ends before counts as taken over at its end.
        """
        held = [each.run for each in runs if self.cluster.find_holder(each.run) is lost]
        return asyncio.create_task(self._wait_for_takeover(held, f"%-{lost.pid}-worker-%"))

    async def _wait_for_takeover(self, runs: list[str], lost: str) -> float:
        since_s = time.monotonic()
        waiting = (
            "SELECT count(*) FROM runs WHERE run_id = ANY(%s) AND status IN ('pending', 'running') "
            "AND (claimed_by IS NULL OR claimed_by LIKE %s)"
        )
        while self.cluster.postgres.run_query(waiting, runs, lost)[0][0]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        return time.monotonic() - since_s

    def restore(self) -> None:
        """Start what an experiment has ended, and forget the calls."""
        for instance in self.cluster.instances:
            if not instance.is_running:
                instance.start()
        for instance in self.cluster.instances:
            instance.wait_ready()
        self.endpoint.clear_calls()
