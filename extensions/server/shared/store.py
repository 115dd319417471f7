"""The Redis that instances share: one connection pool per event loop, and what to do without it."""

import asyncio
import logging
import threading
import time
from collections.abc import Coroutine, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from nodes.errors.redaction import redact_text
from nodes.limits.per_loop import PerLoop
from nodes.models.settings import format_redis_address

if TYPE_CHECKING:
    from redis.asyncio import Redis

TIMEOUT_S: Final = 1.0
"""Longer than any healthy Redis takes; a slower one counts as not available."""
RETRY_S: Final = 2.0
"""Between two tries while it is not available."""

_logger = logging.getLogger(__name__)


class SharedStore:
    """Runs scripts in Redis; while it is not available, each call returns None at once."""

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S, retry_s: float = RETRY_S) -> None:
        self._url, self._timeout_s, self._retry_s = url, timeout_s, retry_s
        self._clients: PerLoop[Redis] = PerLoop(
            lambda: make_client(url), lambda client: client.aclose()
        )
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_away, self._retry_at_s, self._lock = False, 0.0, threading.Lock()

    async def run(self, script: str, keys: Sequence[str], *values: str | float) -> Any:  # a reply
        """Return the reply of a script; None while Redis is away."""
        if not self._may_try():
            return None
        from redis.exceptions import RedisError  # an optional package

        try:
            client = await self._clients.open()
            reply = await self._wait_for(client.register_script(script)(keys, values))
        except (RedisError, OSError, TimeoutError, ValueError) as error:
            self._record_failure(error)
            return None
        self._record_answer()
        return reply

    async def _wait_for(self, asked: Coroutine[Any, Any, Any]) -> Any:  # a reply
        """Return a reply, which a task of its own reads: a cancelled caller ends at once.

        A loop that was busy for the whole time has not read what is there: it has half of it again.
        """
        reading = asyncio.ensure_future(asked)
        try:
            for _ in range(2):
                await asyncio.wait([reading], timeout=self._timeout_s / 2)
                if reading.done():
                    return reading.result()
            raise TimeoutError
        finally:
            reading.cancel()

    def send(self, script: str, keys: Sequence[str], *values: str | float) -> None:
        """Run a script without waiting for it."""
        task = asyncio.get_running_loop().create_task(self.run(script, keys, *values))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def flush(self) -> None:
        """Wait for what this event loop has sent."""
        loop = asyncio.get_running_loop()
        if sent := [task for task in list(self._tasks) if task.get_loop() is loop]:
            await asyncio.wait(sent)

    def _may_try(self) -> bool:
        """Return whether to ask Redis: always while it answers, else one caller now and then."""
        if not self._is_away:
            return True
        with self._lock:
            if time.monotonic() < self._retry_at_s:
                return False
            self._retry_at_s = time.monotonic() + self._retry_s
            return True

    def _record_failure(self, error: Exception) -> None:
        with self._lock:
            was_away, self._is_away = self._is_away, True
            self._retry_at_s = time.monotonic() + self._retry_s
        if not was_away:
            _logger.warning(
                "%s is not available: %s; until it is, this instance keeps to its own share of "
                "the rates",
                format_redis_address(self._url),
                describe_failure(error, self._timeout_s),
            )

    def _record_answer(self) -> None:
        if not self._is_away:
            return
        with self._lock:
            was_away, self._is_away = self._is_away, False
        if was_away:
            _logger.warning(
                "%s is available again: the rates are shared", format_redis_address(self._url)
            )


def make_client(url: str) -> "Redis":
    """Return a client of one event loop; it connects on first use."""
    from redis.asyncio import Redis  # an optional package, and slow to import
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as ConnectionBroken

    # One retry, because an idle connection does not survive a restart of Redis.
    retry = Retry(NoBackoff(), 1, supported_errors=(ConnectionBroken,))
    return Redis.from_url(url, decode_responses=True, retry=retry)


def describe_failure(error: Exception, timeout_s: float = TIMEOUT_S) -> str:
    """Return why Redis did not answer, on one line and without secrets."""
    if isinstance(error, TimeoutError) and not str(error):
        return f"no answer within {timeout_s:g} s"
    if type(error).__name__ == "AuthenticationError" or "HELLO AUTH" in str(error):
        return "it refuses the password, or the address has none"
    said = " ".join(str(error).split()).rstrip(".")
    return redact_text(said[:200] or type(error).__name__)


@cache
def get_shared_store(url: str) -> SharedStore:
    """Return the store that all limits of the process use."""
    return SharedStore(url)
