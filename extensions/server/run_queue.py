"""Counts threads and unfinished runs of users, in the database that a server's instances share."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from extensions.server.ownership import OWNER

OPEN_STATES: Final = ("pending", "running")
COUNT_IN_AEGRA: Final = """
SELECT count(*) FILTER (WHERE user_id = %(user)s) AS own,
       count(*) FILTER (WHERE status = 'pending') AS waiting
FROM runs WHERE status IN ('pending', 'running')
"""
COUNT_THREADS_IN_AEGRA: Final = "SELECT count(*) AS own FROM thread WHERE user_id = %(user)s"


@dataclass(frozen=True)
class OpenRuns:
    """Runs that wait or are at work."""

    own: int
    """Of one user."""
    waiting: int
    """Of all users, not begun."""


CountOpenRuns = Callable[[str], Awaitable[OpenRuns]]
CountThreads = Callable[[str], Awaitable[int]]


def find_counters() -> tuple[CountOpenRuns, CountThreads]:
    """Return what counts runs and threads on the server that this process is."""
    if "aegra_api" in sys.modules:
        return count_in_aegra, count_threads_in_aegra
    return count_in_langgraph, count_threads_in_langgraph


async def count_in_aegra(user: str) -> OpenRuns:
    """Return the counts of Aegra, from its table of runs."""
    return OpenRuns(**await _query_aegra(COUNT_IN_AEGRA, user))


async def count_threads_in_aegra(user: str) -> int:
    """Return how many threads a user has in Aegra."""
    return int((await _query_aegra(COUNT_THREADS_IN_AEGRA, user))["own"])


async def _query_aegra(query: str, user: str) -> dict[str, int]:
    """Return the row of a query.

    The request that asks holds a connection of Aegra's other pool; with a second one from there,
    many requests at once would wait for each other.
    """
    from aegra_api.core.database import db_manager  # comes with Aegra

    async with db_manager.lg_pool.connection() as connection:
        return dict(await (await connection.execute(query, {"user": user})).fetchone())


async def count_threads_in_langgraph(user: str) -> int:
    """Return how many threads a user has in LangGraph's server."""
    return await _get_own_client().threads.count(metadata={OWNER: user})


async def count_in_langgraph(user: str) -> OpenRuns:
    """Return the counts of LangGraph's server, which is asked within this process."""
    client = _get_own_client()
    found = await client.http.get("/metrics", params={"format": "json"})
    busy = await client.threads.search(
        metadata={OWNER: user}, status="busy", limit=1000, select=["thread_id"]
    )
    lists = await asyncio.gather(
        *(
            client.runs.list(each["thread_id"], status=state, limit=100, select=["run_id"])
            for each in busy
            for state in OPEN_STATES
        )
    )
    return OpenRuns(own=sum(map(len, lists)), waiting=found["queue"]["n_pending"])


@cache
def _get_own_client() -> LangGraphClient:
    """Return a client of this process's own server, which needs no network and no token."""
    return get_client()
