"""The app whose middleware and routes Aegra puts before its own.

`langgraph.json` names one app for every server. Aegra takes only a FastAPI application, which
LangGraph's server does not bring; `studio_access.py` chooses.
"""

import asyncio
import sys
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from graph.server.context_check import ContextCheckMiddleware
from graph.server.start_report import report_start_problems
from nodes.errors import SupervisorError

LOADER: Final = "aegra_api.core.app_loader"
REDIS_TIMEOUT_S: Final = 2.0


def is_loaded_by_aegra() -> bool:
    """Return whether it is Aegra that loads the app."""
    return LOADER in sys.modules


def build_aegra_app() -> Starlette:
    """Return the app with the check of contexts and `/ready`, after the settings were checked.

    Raises:
        SystemExit: a setting is unsafe; its text is one line for each problem.
    """
    from fastapi import FastAPI  # comes with Aegra

    try:
        report_start_problems()
    except SupervisorError as error:
        raise SystemExit(error.format_line()) from None
    app: Starlette = FastAPI(
        title="supervisor-worker",
        middleware=[Middleware(ContextCheckMiddleware)],
        routes=[Route("/ready", answer_readiness)],  # found before Aegra's own
    )
    return app


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
