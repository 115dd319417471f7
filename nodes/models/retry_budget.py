"""Retry budget: limits retries so that they cannot overload a failing endpoint."""

import threading
import time
from collections import deque

PERIOD_S = 60.0
RETRY_SHARE = 0.1
MIN_RETRIES = 5


class RetryBudget:
    """Allows retries up to a tenth of the calls in a minute, at least five.

    A successful retry is refunded: the budget limits those that only add load. So callers without
    budget wait while other retries are in flight.
    """

    def __init__(self) -> None:
        self._calls: deque[float] = deque()
        self._retries: deque[float] = deque()
        self._in_flight = 0
        self._lock = threading.Lock()

    def count_call(self) -> None:
        """Count a call, without its retries."""
        with self._lock:
            now = time.monotonic()
            self._calls.append(now)
            _drop_old(self._calls, now)

    def take_retry(self) -> bool:
        """Take one retry from the budget; return False when none is left now."""
        with self._lock:
            now = time.monotonic()
            _drop_old(self._calls, now)
            _drop_old(self._retries, now)
            if len(self._retries) >= max(MIN_RETRIES, RETRY_SHARE * len(self._calls)):
                return False
            self._retries.append(now)
            self._in_flight += 1
            return True

    def is_worth_waiting(self) -> bool:
        """Return whether a retry is in flight that may be refunded."""
        return self._in_flight > 0

    def finish_retry(self) -> None:
        """Record that a retry was answered or failed."""
        with self._lock:
            self._in_flight -= 1

    def refund_retries(self, number: int) -> None:
        """Return the retries of an answered call to the budget."""
        with self._lock:
            for _ in range(min(number, len(self._retries))):
                self._retries.pop()


def _drop_old(times: deque[float], now: float) -> None:
    while times and now - times[0] > PERIOD_S:
        times.popleft()
