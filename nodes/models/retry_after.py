"""A door that an endpoint may close to everybody, and through which a crowd leaves one by one."""

import asyncio
import threading
import time

STAGGER_S = 0.015
"""Between calls that go again: a crowd let go at once is refused at once."""


class RetryAfter:
    """Closed while the endpoint has asked to be left alone. Shared by all loops of the process."""

    def __init__(self) -> None:
        self._blocked_until_s = 0.0
        self._next_turn_s = 0.0
        self._last_turn_s = 0.0
        self._lock = threading.Lock()

    def block(self, seconds: float) -> None:
        """Keep everybody out for that long; a shorter wish does not open it earlier."""
        with self._lock:
            opens_at_s = time.monotonic() + seconds
            if opens_at_s > self._blocked_until_s:
                self._blocked_until_s = self._next_turn_s = opens_at_s

    def get_blocked_s(self) -> float:
        """Return the seconds until it opens; 0 when it is open."""
        return max(0.0, self._blocked_until_s - time.monotonic())

    async def wait(self, *, is_staggered: bool = False) -> None:
        """Wait until it is open; those who waited go one by one.

        Args:
            is_staggered: go one by one also when it is open.
        """
        if not is_staggered and self.get_blocked_s() <= 0:
            return
        wait_s = self._take_turn_s()
        while wait_s > 0:
            await asyncio.sleep(wait_s)
            wait_s = self._get_wait_left_s()

    def _take_turn_s(self) -> float:
        """Take a place in the queue; give the seconds until it is its turn."""
        with self._lock:
            now = time.monotonic()
            turn_s = max(now, self._blocked_until_s, self._next_turn_s)
            self._next_turn_s = turn_s + STAGGER_S
            if turn_s <= now:
                self._last_turn_s = now
            return turn_s - now

    def _get_wait_left_s(self) -> float:
        """Return what is left to wait: it was closed anew, or a busy loop woke two at once."""
        with self._lock:
            now = time.monotonic()
            if now < self._blocked_until_s:
                turn_s = max(self._blocked_until_s, self._next_turn_s)
                self._next_turn_s = turn_s + STAGGER_S
                return turn_s - now
            left_s = self._last_turn_s + STAGGER_S - now
            if left_s <= 0:
                self._last_turn_s = now
            return max(0.0, left_s)
