"""Refuses a run when its user has enough of them already, or when the server's queue is full."""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from langgraph_sdk import Auth

from graph.server.retry_after_header import note_wait
from graph.server.run_queue import CountOpenRuns, find_counter
from graph.server.start_rate import CountStart, build_start_counter
from graph.settings import Settings

SETTLE_S: Final = 2.0
"""How long an admitted run may take until it is stored."""
RETRY_AFTER_S: Final = 5
"""After a refusal because of open runs, whose end is not known."""
_logger = logging.getLogger(__name__)


class RunAdmission:
    """Decides about each run before it is stored.

    A run that was admitted is stored a little later. Until then the instance itself remembers
    it; other instances do not see it.
    """

    def __init__(
        self, count: CountOpenRuns, start: CountStart, *, max_own: int, max_waiting: int
    ) -> None:
        self._count, self._start = count, start
        self._max_own, self._max_waiting = max_own, max_waiting
        self._admitted: dict[str, list[tuple[float, int]]] = {}

    async def admit(self, user: str) -> None:
        """Return if a user may start a run now.

        Raises:
            Auth.exceptions.HTTPException: 429 or 503, with Retry-After.
        """
        counted = await self._count(user)
        own = max(counted.own, self._estimate_own(user))
        if own >= self._max_own:
            raise _refuse(429, f"{own} of your runs wait or are at work", RETRY_AFTER_S)
        if counted.waiting >= self._max_waiting:
            raise _refuse(503, f"the queue is full: {counted.waiting} runs wait", RETRY_AFTER_S)
        admitted = (time.monotonic(), counted.own)
        self._admitted.setdefault(user, []).append(admitted)  # before others may decide
        if wait_s := await self._start(user):
            self._forget(user, admitted)
            raise _refuse(429, "you have started too many runs within a minute", wait_s)

    def _forget(self, user: str, admitted: tuple[float, int]) -> None:
        """Forget a run that was refused after all."""
        known = self._admitted.get(user, [])
        if admitted in known:
            known.remove(admitted)

    def _estimate_own(self, user: str) -> int:
        """Return the runs a user has if all that were just admitted are still open."""
        after = time.monotonic() - SETTLE_S
        for name in list(self._admitted):
            self._admitted[name] = [each for each in self._admitted[name] if each[0] > after]
            if not self._admitted[name]:
                del self._admitted[name]
        recent = self._admitted.get(user)
        return recent[0][1] + len(recent) if recent else 0


def build_admission(settings: Settings) -> Callable[[str], Awaitable[None]]:
    """Return the check of each run that the settings ask for.

    Raises:
        SettingsInvalid: a rate is set, and the package that counts it is not installed.
    """
    admission = RunAdmission(
        find_counter(),
        build_start_counter(settings),
        max_own=settings.user_runs,
        max_waiting=settings.waiting_runs,
    )
    return admission.admit


def _refuse(status: int, what: str, wait_s: int) -> Exception:
    _logger.info("run refused: %s", what)
    note_wait(wait_s)
    refusal: Exception = Auth.exceptions.HTTPException(
        status_code=status,
        detail=f"{what}; try again in {wait_s} s",
        headers={"Retry-After": str(wait_s)},
    )
    return refusal
