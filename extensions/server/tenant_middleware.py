"""The middleware that bounds what one client may take of a server; every server has it."""

from starlette.middleware import Middleware

from extensions.server.authentication import get_authenticator
from extensions.server.body_limit import BodyLimitMiddleware
from extensions.server.retry_after_header import RetryAfterMiddleware
from extensions.server.token_gate import TokenGateMiddleware
from graph.settings import Settings


def list_tenant_middleware(settings: Settings) -> list[Middleware]:
    """Return the middleware in the order in which a request passes it.

    Raises:
        SettingsInvalid: the file of users cannot be used.
    """
    gate = []
    if settings.users_file is not None:
        authenticator = get_authenticator(settings.users_file)
        gate = [Middleware(TokenGateMiddleware, authenticator=authenticator)]
    return [
        *gate,
        Middleware(RetryAfterMiddleware),
        Middleware(BodyLimitMiddleware, max_bytes=settings.max_body_bytes),
    ]
