"""Refuses a run when its user has enough of them, or when the queue is full."""

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from langgraph_sdk import Auth, get_client
from langgraph_sdk.client import LangGraphClient

from extensions.server.middleware import note_wait
from extensions.server.ownership import OWNER, Admit
from graph.settings import Settings

_logger = logging.getLogger(__name__)

OPEN_STATES: Final = ("pending", "running")
COUNT_IN_AEGRA: Final = """
SELECT count(*) FILTER (WHERE user_id = %(user)s) AS own,
       count(*) FILTER (WHERE status = 'pending') AS waiting
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
    """Return what counts runs on the server that this process is."""
    return count_in_aegra if "aegra_api" in sys.modules else count_in_langgraph


async def count_in_aegra(user: str) -> OpenRuns:
    """Return the counts of Aegra, from its table of runs."""
    return OpenRuns(**await _query_aegra(user))


async def _query_aegra(user: str) -> dict[str, int]:
    """Return the row of a query.

    The request that asks holds a connection of Aegra's other pool; with a second one from there,
    many requests at once would wait for each other.
    """
    from aegra_api.core.database import db_manager  # comes with Aegra

    async with db_manager.lg_pool.connection() as connection:
        return dict(await (await connection.execute(COUNT_IN_AEGRA, {"user": user})).fetchone())


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


SETTLE_S: Final = 2.0
"""How long what was admitted may take until it is stored."""
RETRY_AFTER_S: Final = 5
"""After a refusal because of open runs, whose end is not known."""


class RecentlyAdmitted:
    """What was admitted and may not be stored yet; only this instance knows it."""

    def __init__(self) -> None:
        self._admitted: dict[str, list[tuple[float, int]]] = {}

    def note(self, user: str, counted: int) -> None:
        """Note one that was admitted when so many were counted."""
        self._admitted.setdefault(user, []).append((time.monotonic(), counted))

    def estimate(self, user: str) -> int:
        """Return how many a user has if all that were just admitted are still there."""
        after = time.monotonic() - SETTLE_S
        for name in list(self._admitted):
            self._admitted[name] = [each for each in self._admitted[name] if each[0] > after]
            if not self._admitted[name]:
                del self._admitted[name]
        recent = self._admitted.get(user)
        return recent[0][1] + len(recent) if recent else 0


class RunAdmission:
    """Decides about each run before it is stored."""

    def __init__(self, count: CountOpenRuns, *, max_own: int, max_waiting: int) -> None:
        self._count, self._max_own, self._max_waiting = count, max_own, max_waiting
        self._recent = RecentlyAdmitted()

    async def admit(self, user: str) -> None:
        """Return if a user may start a run now.

        Raises:
            Auth.exceptions.HTTPException: 429 or 503, with Retry-After.
        """
        counted = await self._count(user)
        own = max(counted.own, self._recent.estimate(user))
        if own >= self._max_own:
            raise _refuse(429, f"{own} of your runs wait or are at work")
        if counted.waiting >= self._max_waiting:
            raise _refuse(503, f"the queue is full: {counted.waiting} runs wait")
        self._recent.note(user, counted.own)  # before others may decide


def build_admission(settings: Settings) -> Admit:
    """Return the check of each run that the settings ask for."""
    limits = {"max_own": settings.user_runs, "max_waiting": settings.waiting_runs}
    return RunAdmission(find_counter(), **limits).admit


def _refuse(status: int, what: str) -> Exception:
    _logger.info("refused: %s", what)
    note_wait(RETRY_AFTER_S)
    refusal: Exception = Auth.exceptions.HTTPException(
        status_code=status,
        detail=f"{what}; try again in {RETRY_AFTER_S} s",
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )
    return refusal
