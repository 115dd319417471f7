"""Refuses a run or a thread when its user has enough of them, or a run when the queue is full."""

import logging
import time
from typing import Final

from langgraph_sdk import Auth

from extensions.server.middleware import note_wait
from extensions.server.ownership import Admit
from extensions.server.run_queue import CountOpenRuns, CountThreads, find_counters
from extensions.server.start_rate import CountStart, build_start_counter
from graph.settings import Settings

SETTLE_S: Final = 2.0
"""How long what was admitted may take until it is stored."""
RETRY_AFTER_S: Final = 5
"""After a refusal because of open runs, whose end is not known."""
_logger = logging.getLogger(__name__)


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
