"""Refuses a run or a thread when its user has enough of them, or a run when the queue is full."""

import asyncio
import importlib.util
import logging
import math
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from langgraph_sdk import Auth, get_client
from langgraph_sdk.client import LangGraphClient

from extensions.server.middleware import note_wait
from extensions.server.ownership import OWNER, Admit
from graph.settings import Settings
from nodes.errors import SettingsInvalid

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.aio.strategies import MovingWindowRateLimiter


WINDOW: Final = "supervise:starts"
REDIS_TIMEOUT_S: Final = 1.0
IN_MEMORY: Final = "async+memory://"

CountStart = Callable[[str], Awaitable[int]]
"""Counts a start of a user; returns the seconds until one is allowed, 0 if this one is."""

_logger = logging.getLogger(__name__)


def build_start_counter(settings: Settings) -> CountStart:
    """Return the counter that the settings ask for; without a rate every start is allowed.

    Raises:
        SettingsInvalid: a rate is set, and `limits` is not installed.
    """
    rate = settings.user_runs_per_minute
    if rate is None:
        return _allow
    if importlib.util.find_spec("limits") is None:
        raise SettingsInvalid(
            "SUPERVISE_USER_RUNS_PER_MINUTE needs the package limits",
            next="pip install 'supervisor-worker[redis]'",
        )
    return StartCounter(rate, url=settings.redis_url, instances=settings.instances).count


class StartCounter:
    """Counts starts in a store that instances share, and in memory where that fails.

    Args:
        url: the address of a Redis; None: each instance counts alone.
        instances: how many there are; one that counts alone allows its part of the rate.
    """

    def __init__(self, per_minute: int, *, url: str | None = None, instances: int = 1) -> None:
        from limits import RateLimitItemPerMinute

        self._shared = _build_limiter(f"async+{url}") if url else None
        self._whole = RateLimitItemPerMinute(per_minute)
        self._own = _build_limiter(IN_MEMORY)
        self._part = RateLimitItemPerMinute(math.ceil(per_minute / instances))

    async def count(self, user: str) -> int:
        """Count a start; return 0, or the seconds until one is allowed."""
        from limits.errors import StorageError

        if self._shared is not None:
            try:
                return await _hit(self._shared, self._whole, user)
            except StorageError as error:
                _logger.warning("Redis does not count starts, this instance does: %s", error)
        return await _hit(self._own, self._part, user)


async def _hit(limiter: "MovingWindowRateLimiter", item: "RateLimitItem", user: str) -> int:
    if await limiter.hit(item, WINDOW, user):
        return 0
    reset = (await limiter.get_window_stats(item, WINDOW, user)).reset_time
    return max(1, math.ceil(reset - time.time()))


def _build_limiter(url: str) -> "MovingWindowRateLimiter":
    from limits.aio.strategies import MovingWindowRateLimiter
    from limits.storage import storage_from_string

    options: dict[str, Any] = {}  # of the client of Redis
    if url != IN_MEMORY:
        options = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), REDIS_TIMEOUT_S)
        options["implementation"] = "redispy"
    return MovingWindowRateLimiter(storage_from_string(url, wrap_exceptions=True, **options))


async def _allow(user: str) -> int:
    return 0


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


SETTLE_S: Final = 2.0
"""How long what was admitted may take until it is stored."""
RETRY_AFTER_S: Final = 5
"""After a refusal because of open runs, whose end is not known."""


class RecentlyAdmitted:
    """What was admitted and may not be stored yet; only this instance knows it."""

    def __init__(self) -> None:
        self._admitted: dict[str, list[tuple[float, int]]] = {}

    def note(self, user: str, counted: int) -> tuple[float, int]:
        """Note one that was admitted when so many were counted; return the note."""
        noted = (time.monotonic(), counted)
        self._admitted.setdefault(user, []).append(noted)
        return noted

    def forget(self, user: str, noted: tuple[float, int]) -> None:
        """Forget one that was refused after all."""
        known = self._admitted.get(user, [])
        if noted in known:
            known.remove(noted)

    def estimate(self, user: str) -> int:
        """Return how many a user has if all that were just admitted are still there."""
        after = time.monotonic() - SETTLE_S
        for name in list(self._admitted):
            self._admitted[name] = [each for each in self._admitted[name] if each[0] > after]
            if not self._admitted[name]:
                del self._admitted[name]
        recent = self._admitted.get(user)
        return recent[0][1] + len(recent) if recent else 0


class ThreadAdmission:
    """Decides about each thread before it is stored."""

    def __init__(self, count: CountThreads, *, max_own: int) -> None:
        self._count, self._max_own, self._recent = count, max_own, RecentlyAdmitted()

    async def admit(self, user: str) -> None:
        """Return if a user may create a thread now.

        Raises:
            Auth.exceptions.HTTPException: 429, with the way to delete threads.
        """
        counted = await self._count(user)
        if max(counted, self._recent.estimate(user)) >= self._max_own:
            refused = f"you have {self._max_own:,} threads or more on this server"
            remedy = "delete some (DELETE /threads/THREAD), and try again"
            raise _log_refusal(429, f"{refused}; {remedy}")
        self._recent.note(user, counted)


class RunAdmission:
    """Decides about each run before it is stored."""

    def __init__(
        self, count: CountOpenRuns, start: CountStart, *, max_own: int, max_waiting: int
    ) -> None:
        self._count, self._start = count, start
        self._max_own, self._max_waiting = max_own, max_waiting
        self._recent = RecentlyAdmitted()

    async def admit(self, user: str) -> None:
        """Return if a user may start a run now.

        Raises:
            Auth.exceptions.HTTPException: 429 or 503, with Retry-After.
        """
        counted = await self._count(user)
        own = max(counted.own, self._recent.estimate(user))
        if own >= self._max_own:
            raise _refuse(429, f"{own} of your runs wait or are at work", RETRY_AFTER_S)
        if counted.waiting >= self._max_waiting:
            raise _refuse(503, f"the queue is full: {counted.waiting} runs wait", RETRY_AFTER_S)
        admitted = self._recent.note(user, counted.own)  # before others may decide
        if wait_s := await self._start(user):
            self._recent.forget(user, admitted)
            raise _refuse(429, "you have started too many runs within a minute", wait_s)


def build_admission(settings: Settings) -> tuple[Admit, Admit]:
    """Return the checks of each run and each thread that the settings ask for.

    Raises:
        SettingsInvalid: a rate is set, and the package that counts it is not installed.
    """
    count_runs, count_threads = find_counters()
    runs = RunAdmission(
        count_runs,
        build_start_counter(settings),
        max_own=settings.user_runs,
        max_waiting=settings.waiting_runs,
    )
    return runs.admit, ThreadAdmission(count_threads, max_own=settings.user_threads).admit


def _refuse(status: int, what: str, wait_s: int) -> Exception:
    note_wait(wait_s)
    headers = {"Retry-After": str(wait_s)}
    return _log_refusal(status, f"{what}; try again in {wait_s} s", headers)


def _log_refusal(status: int, what: str, headers: dict[str, str] | None = None) -> Exception:
    _logger.info("refused: %s", what)
    refusal: Exception = Auth.exceptions.HTTPException(
        status_code=status, detail=what, headers=headers
    )
    return refusal
