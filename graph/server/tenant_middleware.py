"""The middleware that bounds what one client may take of a server; every server has it."""

from starlette.middleware import Middleware

from graph.server.body_limit import BodyLimitMiddleware
from graph.server.retry_after_header import RetryAfterMiddleware
from graph.settings import Settings


def list_tenant_middleware(settings: Settings) -> list[Middleware]:
    """Return the middleware in the order in which a request passes it."""
    return [
        Middleware(RetryAfterMiddleware),
        Middleware(BodyLimitMiddleware, max_bytes=settings.max_body_bytes),
    ]
