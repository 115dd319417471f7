"""The app whose middleware and routes Aegra puts before its own.

`langgraph.json` names one app for every server. Aegra takes only a FastAPI application, which
LangGraph's server does not bring; `studio_access.py` chooses.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from extensions.server.aegra_settings import report_start_problems
from extensions.server.middleware import list_tenant_middleware
from graph.settings import Settings
from nodes.errors import SettingsInvalid, SupervisorError
from nodes.errors.redaction import redact_text
from nodes.text.counts import format_count

LOADER: Final = "aegra_api.core.app_loader"
REDIS_TIMEOUT_S: Final = 2.0


def is_loaded_by_aegra() -> bool:
    """Return whether it is Aegra that loads the app."""
    return LOADER in sys.modules


def refuse_unsafe_start() -> None:
    """End the process with one line if its settings are unsafe; log what is doubtful.

    Raises:
        SystemExit: a setting is unsafe; its text is an error's line.
    """
    from aegra_api.core.auth_middleware import get_auth_instance  # comes with Aegra

    try:
        report_start_problems()
        list_tenant_middleware(Settings())
        # Loaded here, so that it warns of a server without users at start.
        require_users(Settings(), has_hook=get_auth_instance() is not None)
    except SupervisorError as error:
        raise SystemExit(error.format_line()) from None


def build_aegra_app(middleware: Sequence[Middleware], routes: Sequence[BaseRoute]) -> Starlette:
    """Return the app with middleware and routes of ours, and with `/ready`."""
    from fastapi import FastAPI  # comes with Aegra

    ready = Route("/ready", answer_readiness)  # found before Aegra's own
    app: Starlette = FastAPI(
        title="supervisor-worker",
        middleware=middleware,
        routes=[ready, *routes],
        lifespan=watch_lost_leases,
    )
    return app


def require_users(settings: Settings, *, has_hook: bool) -> None:
    """Check that the hook of the users is loaded; Aegra continues without one that it cannot load.

    Raises:
        SettingsInvalid: `SUPERVISE_USERS` is set, and there is no hook.
    """
    if settings.users_file is not None and not has_hook:
        raise SettingsInvalid(
            "SUPERVISE_USERS is set, but no hook for users was loaded",
            next="name ./extensions/server/auth.py:auth as `auth` in langgraph.json",
        )


async def answer_readiness(request: Request) -> JSONResponse:
    """Answer 200 if the instance can take and work on runs.

    Raises:
        HTTPException: 503, as the database or Redis does not answer.
    """
    from aegra_api.core.health import readiness_check  # comes with Aegra

    ready = await readiness_check(request)
    await _check_redis()
    return JSONResponse(ready)


async def _check_redis() -> None:
    """Ask Redis for a sign of life where runs are distributed through it."""
    from aegra_api.core.redis_manager import redis_manager  # comes with Aegra
    from aegra_api.settings import settings  # comes with Aegra
    from redis import RedisError  # comes with Aegra

    if not settings.redis.REDIS_BROKER_ENABLED:
        return
    try:
        async with asyncio.timeout(REDIS_TIMEOUT_S):
            await redis_manager.get_client().ping()
    except (RedisError, OSError, RuntimeError, TimeoutError):
        raise HTTPException(503, "Service not ready - Redis does not answer") from None


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
    """Let the leases of runs that have lost their holder pass, so that Aegra's reaper sees them.

    After an outage of the database a run may be `running` without a holder and without a lease,
    and nothing would ever continue it (Aegra 0.11, its issue 476). This looks as often as the
    reaper does, while the server runs.
    """
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
