"""A door that an endpoint may close to everybody, and through which a crowd leaves one by one."""

import asyncio
import threading
import time

STAGGER_S = 0.015
"""Between calls that go again: a crowd let go at once is refused at once."""


class Gate:
    """Closed while the endpoint has asked to be left alone. Shared by all loops of the process."""

    def __init__(self) -> None:
        self._opens_at_s = 0.0
        self._next_s = 0.0
        self._went_s = 0.0
        self._lock = threading.Lock()

    def close(self, seconds: float) -> None:
        """Keep everybody out for that long; a shorter wish does not open it earlier."""
        with self._lock:
            opens_at_s = time.monotonic() + seconds
            if opens_at_s > self._opens_at_s:
                self._opens_at_s = self._next_s = opens_at_s

    def opens_in_s(self) -> float:
        """Give the seconds until it opens; 0 when it is open."""
        return max(0.0, self._opens_at_s - time.monotonic())

    async def wait(self, *, is_staggered: bool = False) -> None:
        """Wait until it is open; those who waited go one by one.

        Args:
            is_staggered: go one by one also when it is open.
        """
        if not is_staggered and self.opens_in_s() <= 0:
            return
        wait_s = self._place_s()
        while wait_s > 0:
            await asyncio.sleep(wait_s)
            wait_s = self._left_s()

    def _place_s(self) -> float:
        """Take a place in the queue; give the seconds until it is its turn."""
        with self._lock:
            now = time.monotonic()
            turn_s = max(now, self._opens_at_s, self._next_s)
            self._next_s = turn_s + STAGGER_S
            if turn_s <= now:
                self._went_s = now
            return turn_s - now

    def _left_s(self) -> float:
        """Give what is left to wait: it was closed anew, or a busy loop woke two at once."""
        with self._lock:
            now = time.monotonic()
            if now < self._opens_at_s:
                turn_s = max(self._opens_at_s, self._next_s)
                self._next_s = turn_s + STAGGER_S
                return turn_s - now
            left_s = self._went_s + STAGGER_S - now
            if left_s <= 0:
                self._went_s = now
            return max(0.0, left_s)
