"""A circuit breaker: who has failed again and again is not asked for a while, then once."""

import random
import threading
import time
from collections.abc import Callable

from nodes.errors import EndpointDown

FAILURE_THRESHOLD = 6
"""Failures in a row that open it: one more than the retries that a lone run has."""
OPEN_S = 30.0
FORGET_AFTER_S = 300.0
"""A failure older than this, with nothing after it, is forgotten."""
PAUSE_S = 0.25
"""After a failure, for all that come next; it doubles with each further one in a row."""
MAX_PAUSE_S = 2.0


class CircuitBreaker:
    """Closed while an endpoint answers, open once it is taken for dead, half open for one probe.

    Requests that were under way when the first one failed say what that one said, and count as
    one with it: a crowd that meets a moment's outage is no proof of a long one. After each failure
    all pause before they go on, so that the proof takes some seconds.

    Shared by all runs and loops of the process. While all is well it costs a comparison.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.failures = 0
        """In a row."""
        self._last_error = ""
        self._first_failure_s = self._last_failure_s = self._retry_at_s = self._counts_from_s = 0.0
        self._probe: object = None
        self._lock = threading.Lock()

    def is_open(self) -> bool:
        """Return whether calls are refused; the moment of the probe included."""
        return self.failures >= FAILURE_THRESHOLD

    def admit(self, caller: object, who: str) -> float:
        """Return the seconds to pause before asking again; 0 when the caller may send a request.

        Raises:
            EndpointDown: it is open, and this is not its probe.
        """
        if not self.failures:
            return 0.0
        with self._lock:
            now = self._clock()
            if not self.is_open():
                return max(0.0, self._retry_at_s - now)
            if self._probe is None and now >= self._retry_at_s:
                self._probe = caller
                return 0.0
            raise self.build_refusal(who)

    def record_answer(self, began_s: float) -> None:
        """Know that a request was answered, were it with a refusal."""
        if not self.failures:
            return
        with self._lock:
            if began_s >= self._counts_from_s:
                self.failures, self._probe = 0, None

    def record_failure(self, began_s: float, said: str) -> bool:
        """Know that a request was not answered; True when this opens the breaker."""
        with self._lock:
            now = self._clock()
            if now - self._last_failure_s > FORGET_AFTER_S and not self.is_open():
                self.failures = 0
            if self.failures and began_s < self._counts_from_s:
                return False
            if not self.failures:
                self._first_failure_s = self._counts_from_s = now
            self.failures += 1
            if self.is_open():
                self._counts_from_s = now
            self._last_failure_s, self._last_error, self._probe = now, said, None
            self._retry_at_s = now + self._choose_pause_s()
            return self.failures == FAILURE_THRESHOLD

    def release_probe(self, caller: object) -> None:
        """Know that a caller is gone; if it was the probe, another may be."""
        if self._probe is caller:
            with self._lock:
                self._probe = None if self._probe is caller else self._probe

    def build_refusal(self, who: str) -> EndpointDown:
        """Word why the model is not asked."""
        now = self._clock()
        spoken = "1 failure" if self.failures == 1 else f"{self.failures} failures"
        since = time.strftime(
            "%H:%M:%S UTC", time.gmtime(time.time() - (now - self._first_failure_s))
        )
        return EndpointDown(
            f"{who} is not asked: {spoken} in a row since {since}",
            retry_after_s=max(0.0, self._retry_at_s - now),
            cause=self._last_error,
        )

    def _choose_pause_s(self) -> float:
        if self.is_open():
            return OPEN_S
        return random.uniform(0.5, 1.0) * min(MAX_PAUSE_S, PAUSE_S * 2.0 ** (self.failures - 1))
