"""Counts how many runs each user has started within the last minute."""

import importlib.util
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from graph.settings import Settings
from nodes.errors import SettingsInvalid

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.aio.strategies import MovingWindowRateLimiter

WINDOW: Final = "supervise:starts"
REDIS_TIMEOUT_S: Final = 1.0
IN_MEMORY: Final = "async+memory://"

CountStart = Callable[[str], Awaitable[int]]
"""Counts a start of a user; returns the seconds until one is allowed, 0 if this one is."""

_logger = logging.getLogger(__name__)


def build_start_counter(settings: Settings) -> CountStart:
    """Return the counter that the settings ask for; without a rate every start is allowed.

    Raises:
        SettingsInvalid: a rate is set, and `limits` is not installed.
    """
    rate = settings.user_runs_per_minute
    if rate is None:
        return _allow
    if importlib.util.find_spec("limits") is None:
        raise SettingsInvalid(
            "SUPERVISE_USER_RUNS_PER_MINUTE needs the package limits",
            next="pip install 'supervisor-worker[redis]'",
        )
    return StartCounter(rate, url=settings.redis_url, instances=settings.instances).count


class StartCounter:
    """Counts starts in a store that instances share, and in memory where that fails.

    Args:
        url: the address of a Redis; None: each instance counts alone.
        instances: how many there are; one that counts alone allows its part of the rate.
    """

    def __init__(self, per_minute: int, *, url: str | None = None, instances: int = 1) -> None:
        from limits import RateLimitItemPerMinute

        self._shared = _build_limiter(f"async+{url}") if url else None
        self._whole = RateLimitItemPerMinute(per_minute)
        self._own = _build_limiter(IN_MEMORY)
        self._part = RateLimitItemPerMinute(math.ceil(per_minute / instances))

    async def count(self, user: str) -> int:
        """Count a start; return 0, or the seconds until one is allowed."""
        from limits.errors import StorageError

        if self._shared is not None:
            try:
                return await _hit(self._shared, self._whole, user)
            except StorageError as error:
                _logger.warning("Redis does not count starts, this instance does: %s", error)
        return await _hit(self._own, self._part, user)


async def _hit(limiter: "MovingWindowRateLimiter", item: "RateLimitItem", user: str) -> int:
    if await limiter.hit(item, WINDOW, user):
        return 0
    reset = (await limiter.get_window_stats(item, WINDOW, user)).reset_time
    return max(1, math.ceil(reset - time.time()))


def _build_limiter(url: str) -> "MovingWindowRateLimiter":
    from limits.aio.strategies import MovingWindowRateLimiter
    from limits.storage import storage_from_string

    options: dict[str, Any] = {}  # of the client of Redis
    if url != IN_MEMORY:
        options = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), REDIS_TIMEOUT_S)
        options["implementation"] = "redispy"
    return MovingWindowRateLimiter(storage_from_string(url, wrap_exceptions=True, **options))


async def _allow(user: str) -> int:
    return 0
