"""Refuses a run when its user has enough of them already, or when the server's queue is full."""

import importlib.util
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Final

from langgraph_sdk import Auth

from graph.server.run_queue import CountOpenRuns, find_counter
from graph.settings import Settings
from nodes.errors import SettingsInvalid

RETRY_AFTER_S: Final = 5
"""After a refusal because of open runs, whose end is not known."""
WINDOW: Final = "runs started"

Hit = Callable[[str], Awaitable[int]]
"""Counts a start of a user; returns the seconds until one is allowed, 0 if this one is."""

_logger = logging.getLogger(__name__)


class RunAdmission:
    """Decides about each run before it is stored.

    Runs that are started in the same instant are each counted without the others, so that a
    user may for a moment have some more than `max_own`; the rate bounds how many.
    """

    def __init__(self, count: CountOpenRuns, *, max_own: int, max_waiting: int, hit: Hit) -> None:
        self._count, self._hit = count, hit
        self._max_own, self._max_waiting = max_own, max_waiting

    async def admit(self, user: str) -> None:
        """Return if a user may start a run now.

        Raises:
            Auth.exceptions.HTTPException: 429 or 503, with Retry-After.
        """
        counted = await self._count(user)
        if counted.own >= self._max_own:
            raise _refuse(429, f"{counted.own} of your runs wait or are at work", RETRY_AFTER_S)
        if counted.waiting >= self._max_waiting:
            raise _refuse(503, f"the queue is full: {counted.waiting} runs wait", RETRY_AFTER_S)
        if wait_s := await self._hit(user):
            raise _refuse(429, "you have started too many runs within a minute", wait_s)


def build_admission(settings: Settings) -> Callable[[str], Awaitable[None]]:
    """Return the check of each run that the settings ask for.

    Raises:
        SettingsInvalid: a rate is set, and the package that counts it is not installed.
    """
    rate = settings.user_runs_per_minute
    admission = RunAdmission(
        find_counter(),
        max_own=settings.user_runs,
        max_waiting=settings.waiting_runs,
        hit=build_rate(rate) if rate else _allow,
    )
    return admission.admit


def build_rate(per_minute: int, url: str = "async+memory://") -> Hit:
    """Return the counter of starts within a minute, by user.

    Args:
        url: where the starts are counted, in the form of the package `limits`.

    Raises:
        SettingsInvalid: `limits` is not installed.
    """
    if importlib.util.find_spec("limits") is None:
        raise SettingsInvalid(
            "SUPERVISE_USER_RUNS_PER_MINUTE needs the package limits",
            next="pip install 'supervisor-worker[redis]'",
        )
    from limits import RateLimitItemPerMinute
    from limits.aio.strategies import MovingWindowRateLimiter
    from limits.storage import storage_from_string

    limiter = MovingWindowRateLimiter(storage_from_string(url))
    item = RateLimitItemPerMinute(per_minute)

    async def hit(user: str) -> int:
        if await limiter.hit(item, WINDOW, user):
            return 0
        reset = (await limiter.get_window_stats(item, WINDOW, user)).reset_time
        return max(1, math.ceil(reset - time.time()))

    return hit


async def _allow(user: str) -> int:
    return 0


def _refuse(status: int, what: str, wait_s: int) -> Exception:
    _logger.info("run refused: %s", what)
    refusal: Exception = Auth.exceptions.HTTPException(
        status_code=status,
        detail=f"{what}; try again in {wait_s} s",
        headers={"Retry-After": str(wait_s)},
    )
    return refusal
