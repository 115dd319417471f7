"""Learns how far the estimates of tokens are from what an endpoint counts."""

from math import ceil
from typing import Final

FIRST_WEIGHT: Final = 0.25
"""Of the newest answer in the mean and in the deviation, once there are some."""
DEVIATIONS: Final = 2.0
"""Above the mean: too low an estimate exceeds the limit, too high a one is given back."""
MIN_FACTOR: Final = 0.1
MAX_FACTOR: Final = 10.0


class TokenEstimate:
    """Corrects estimates by the answers before, as TCP does with its timeouts (RFC 6298)."""

    def __init__(self) -> None:
        self._mean, self._deviation, self._answers = 1.0, 0.0, 0

    def correct(self, tokens: int) -> int:
        """Return what a request with this estimate is likely not to exceed."""
        factor = self._mean + DEVIATIONS * self._deviation
        return ceil(tokens * min(max(factor, MIN_FACTOR), MAX_FACTOR))

    def learn(self, estimate: int, tokens: int) -> None:
        """Learn from a request: what it was estimated at, and what was counted."""
        if estimate <= 0 or tokens <= 0:
            return
        ratio = tokens / estimate
        self._answers += 1
        weight = max(FIRST_WEIGHT, 1 / self._answers)
        if self._answers > 1:
            self._deviation += weight * (abs(ratio - self._mean) - self._deviation)
        self._mean += weight * (ratio - self._mean)
