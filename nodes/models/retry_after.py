"""Blocks calls until an endpoint's Retry-After has passed, then releases waiters staggered."""

import asyncio
import threading
import time

STAGGER_S = 0.015
"""Between released calls: calls released all at once would be refused again."""


class RetryAfter:
    """Blocks while an endpoint is rate limited. Shared by all event loops of the process."""

    def __init__(self) -> None:
        self._blocked_until_s = 0.0
        self._next_turn_s = 0.0
        self._last_turn_s = 0.0
        self._lock = threading.Lock()

    def block(self, seconds: float) -> None:
        """Block all calls for this time; a shorter time does not end an earlier block."""
        with self._lock:
            until_s = time.monotonic() + seconds
            if until_s > self._blocked_until_s:
                self._blocked_until_s = self._next_turn_s = until_s

    def get_blocked_s(self) -> float:
        """Return the seconds until calls are allowed; 0 when they are."""
        return max(0.0, self._blocked_until_s - time.monotonic())

    async def wait(self, *, is_staggered: bool = False) -> None:
        """Wait until calls are allowed; waiters are released one by one.

        Args:
            is_staggered: release one by one even when calls are allowed.
        """
        if not is_staggered and self.get_blocked_s() <= 0:
            return
        wait_s = self._take_turn_s()
        while wait_s > 0:
            await asyncio.sleep(wait_s)
            wait_s = self._get_wait_left_s()

    def _take_turn_s(self) -> float:
        """Take a place in the queue; return the seconds until its turn."""
        with self._lock:
            now = time.monotonic()
            turn_s = max(now, self._blocked_until_s, self._next_turn_s)
            self._next_turn_s = turn_s + STAGGER_S
            if turn_s <= now:
                self._last_turn_s = now
            return turn_s - now

    def _get_wait_left_s(self) -> float:
        """Return the seconds left: it was blocked again, or a busy loop woke two at once."""
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
