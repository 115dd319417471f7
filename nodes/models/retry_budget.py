"""How many retries an endpoint is sent: few enough that they cannot keep it down."""

import threading
import time
from collections import deque

PERIOD_S = 60.0
RETRY_SHARE = 0.1
MIN_RETRIES = 5


class RetryBudget:
    """Allows retries worth a tenth of the calls of a minute, five at least.

    A retry that helped is given back: the budget is against those that only add to the load. So
    whoever gets none may wait, as long as others that may help are out.
    """

    def __init__(self) -> None:
        self._calls: deque[float] = deque()
        self._retries: deque[float] = deque()
        self._in_flight = 0
        self._lock = threading.Lock()

    def count_call(self) -> None:
        """Count a call, its retries apart."""
        with self._lock:
            now = time.monotonic()
            self._calls.append(now)
            _drop_old(self._calls, now)

    def take_retry(self) -> bool:
        """Take leave for one retry; False when there is none to be had now."""
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
        """Return whether a retry is out that may yet be given back."""
        return self._in_flight > 0

    def finish_retry(self) -> None:
        """Know that a retry was answered or failed."""
        with self._lock:
            self._in_flight -= 1

    def refund_retries(self, number: int) -> None:
        """Know that a call was answered after so many retries."""
        with self._lock:
            for _ in range(min(number, len(self._retries))):
                self._retries.pop()


def _drop_old(moments: deque[float], now: float) -> None:
    while moments and now - moments[0] > PERIOD_S:
        moments.popleft()
