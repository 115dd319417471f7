"""Hands runs that have lost their holder to Aegra's reaper, which looks only at leases that passed.

After an outage of the database a run may be `running` without a holder and without a lease, and
nothing would ever continue it (Aegra 0.11, its issue 476).
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

from nodes.errors.redaction import redact_text
from nodes.text.counts import format_count

EXPIRE_QUERY: Final = """
UPDATE runs SET lease_expires_at = now() - interval '1 minute'
WHERE status = 'running' AND claimed_by IS NULL AND lease_expires_at IS NULL
  AND updated_at < now() - %(age_s)s * interval '1 second'
RETURNING run_id
"""
LEASES: Final = 2
"""After so many leases a run without a holder has none: one that ends has noted it long before."""

_logger = logging.getLogger(__name__)


class ConnectionPool(Protocol):
    """A pool of psycopg's connections."""

    def connection(self) -> Any:  # a context manager of a connection, whose type Aegra chooses
        """Lend a connection."""


async def expire_lost_leases(pool: ConnectionPool, lease_s: float) -> int:
    """Let the leases of runs without a holder pass; return how many there were.

    Args:
        lease_s: how long a lease lasts; a younger run is left as it is.
    """
    async with pool.connection() as connection:
        found = await connection.execute(EXPIRE_QUERY, {"age_s": LEASES * lease_s})
        return len(await found.fetchall())


@asynccontextmanager
async def watch_lost_leases(_app: object) -> AsyncIterator[None]:
    """Look for such runs as often as the reaper does, while the server runs."""
    from aegra_api.settings import settings  # comes with Aegra

    if not settings.redis.REDIS_BROKER_ENABLED:  # without it no run has a lease
        yield
        return
    watching = asyncio.create_task(_watch(settings.worker))
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.wait([watching])


async def _watch(worker: Any) -> None:  # Aegra's settings
    from aegra_api.core.database import db_manager  # comes with Aegra

    while True:
        await asyncio.sleep(worker.REAPER_INTERVAL_SECONDS)
        try:
            count = await expire_lost_leases(db_manager.lg_pool, worker.LEASE_DURATION_SECONDS)
        except Exception as error:  # an outage; the next look may find the database again
            _logger.info("no look for lost runs: %s", redact_text(type(error).__name__))
            continue
        if count:
            _logger.warning("%s without a holder will be continued", format_count(count, "run"))
