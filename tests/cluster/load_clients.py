"""Clients that queue runs at a cluster and wait for the answers."""

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.errors import APIStatusError

from tests.cluster.cluster import TEAM, Cluster

REQUEST: Final = {"request": "Compare the parts and say which one is best."}
REFUSALS: Final = (429, 503)
LONGEST_PAUSE_S: Final = 5.0
ENDED: Final = ("success", "error", "interrupted")
FETCH_ENDED: Final = """
SELECT run_id, status, extract(epoch FROM updated_at)::float8, coalesce(output ->> 'status', ''),
       (SELECT count(*) FROM jsonb_each(coalesce(output -> 'results', '{}'::jsonb)) AS one
        WHERE one.value ->> 'status' = 'completed'), coalesce(error_message, '')
FROM runs
"""


@dataclass(frozen=True)
class LoadRun:
    """A run of a client: when it was wanted, and how it ended."""

    client: int
    wanted_s: float
    """Time of day at which the client first asked for it."""
    refusals: int
    ended_s: float
    is_right: bool
    problem: str = ""

    @property
    def waited_s(self) -> float:
        """Seconds from the first request to the end of the run."""
        return self.ended_s - self.wanted_s


@dataclass
class LoadClient:
    """A client with a connection of its own, which queues its runs at once."""

    number: int
    url: str
    runs: int
    headers: Mapping[str, str] | None = None
    team: str = TEAM
    given: Mapping[str, object] = field(default_factory=lambda: REQUEST)
    """The input of each run."""
    queued: dict[str, tuple[float, int]] = field(default_factory=dict)
    """By run id: when it was wanted, and how often it was refused."""
    is_ahead: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when all its runs are queued, or the first one is refused."""

    async def run_all(self) -> None:
        """Queue all runs, and return when all have ended."""
        async with get_client(url=self.url, api_key=None, headers=self.headers) as client:
            wanted_s = time.time()
            threads = [await self._queue_run(client, wanted_s) for _ in range(self.runs)]
            self.is_ahead.set()
            for thread, run in threads:
                await self._wait_for_end(client, thread, run)

    async def _queue_run(self, client: Any, wanted_s: float) -> tuple[str, str]:  # Any: untyped
        refusals = 0
        while True:
            try:
                thread = (await client.threads.create())["thread_id"]
                run = await client.runs.create(thread, self.team, input=dict(self.given))
            except httpx.TransportError:
                continue
            except APIStatusError as refusal:
                if refusal.status_code not in REFUSALS:
                    raise
                refusals += 1
                self.is_ahead.set()
                pause_s = float(refusal.response.headers.get("retry-after") or 1)
                await asyncio.sleep(min(pause_s, LONGEST_PAUSE_S))
            else:
                self.queued[run["run_id"]] = (wanted_s, refusals)
                return thread, run["run_id"]

    async def _wait_for_end(self, client: Any, thread: str, run: str) -> None:  # Any: untyped
        while True:
            # A server closes an idle connection after some seconds, even as it is used again.
            with contextlib.suppress(httpx.TransportError):
                await client.runs.join(thread, run)
                if (await client.runs.get(thread, run))["status"] in ENDED:
                    return


async def run_clients(cluster: Cluster, clients: Sequence[LoadClient], tasks: int) -> list[LoadRun]:
    """Return the runs of all clients, which work at the same time.

    The first client is ahead: the others begin when it has queued what it can. A run is right if
    it succeeded and its answer is based on all tasks.
    """
    async with asyncio.TaskGroup() as group:
        group.create_task(clients[0].run_all())
        await clients[0].is_ahead.wait()
        for client in clients[1:]:
            group.create_task(client.run_all())
    rows: dict[str, tuple[Any, ...]] = {
        str(row[0]): row for row in cluster.postgres.run_query(FETCH_ENDED)
    }
    return [
        _judge_run(client.number, asked, rows[run], tasks)
        for client in clients
        for run, asked in client.queued.items()
    ]


def _judge_run(client: int, asked: tuple[float, int], row: tuple[Any, ...], tasks: int) -> LoadRun:
    _, status, ended_s, answer_status, completed, error = row
    is_right = (status, answer_status, completed) == ("success", "done", tasks)
    problem = "" if is_right else f"{status}, {answer_status}, {completed} of {tasks}: {error}"
    return LoadRun(client, *asked, ended_s=float(ended_s), is_right=is_right, problem=problem)
