"""Counts the runs that a server has not finished, in the database that its instances share."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from graph.server.ownership import OWNER

OPEN_STATES: Final = ("pending", "running")
COUNT_IN_AEGRA: Final = """
SELECT count(*) FILTER (WHERE user_id = :user), count(*) FILTER (WHERE status = 'pending')
FROM runs WHERE status IN ('pending', 'running')
"""


@dataclass(frozen=True)
class OpenRuns:
    """Runs that wait or are at work."""

    own: int
    """Of one user."""
    waiting: int
    """Of all users, not begun."""


CountOpenRuns = Callable[[str], Awaitable[OpenRuns]]


def find_counter() -> CountOpenRuns:
    """Return what counts on the server that this process is."""
    return count_in_aegra if "aegra_api" in sys.modules else count_in_langgraph


async def count_in_aegra(user: str) -> OpenRuns:
    """Return the counts of Aegra, from its table of runs."""
    from aegra_api.core.database import db_manager  # comes with Aegra
    from sqlalchemy import text  # type: ignore[import-not-found]

    async with db_manager.get_engine().connect() as connection:
        own, waiting = (await connection.execute(text(COUNT_IN_AEGRA), {"user": user})).one()
    return OpenRuns(own=own, waiting=waiting)


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
