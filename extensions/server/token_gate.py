"""Refuses, without a token, bodies before they are read, and figures of the process.

The servers' own check of tokens comes after the middleware, which reads bodies.
"""

from typing import Final

from langgraph_sdk import Auth
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from extensions.server.authentication import Authenticator

BODY_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""All routes with these need a token; what needs none is read with GET."""
PROCESS_FIGURES: Final = "/metrics"
"""The servers' own route, for which they ask no token."""
IN_PROCESS_ROOT: Final = "/noauth"
"""Root path of a server's calls to itself; no outside request can set it."""


class TokenGateMiddleware:
    """Answers 401 to a request without a valid token that has a body, or asks for figures."""

    def __init__(self, app: ASGIApp, *, authenticator: Authenticator) -> None:
        self._app, self._authenticator = app, authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        is_gated = scope["type"] == "http" and (
            scope["method"] in BODY_METHODS or scope["path"].rstrip("/").endswith(PROCESS_FIGURES)
        )
        if is_gated and scope.get("root_path") != IN_PROCESS_ROOT:
            try:
                await self._authenticator.authenticate(dict(Headers(scope=scope)))
            except Auth.exceptions.HTTPException as refused:
                answer = {"detail": refused.detail}
                response = JSONResponse(answer, refused.status_code, {"Connection": "close"})
                return await response(scope, receive, send)
        await self._app(scope, receive, send)
