"""The middleware that bounds what one client may take of a server; every server has it."""

from typing import Final

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from extensions.server.authentication import get_authenticator
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


TOO_LARGE: Final = 413


class BodyLimitMiddleware:
    """Answers 413 to a larger body, before more than the limit is in memory."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > self._max_bytes:
            return await self._refuse(scope, receive, send)
        request = _CountedRequest(receive, send, self._max_bytes)
        try:
            await self._app(scope, request.receive, request.send)
        except Exception:  # a server may wrap what `receive` raised in another error
            if not request.is_too_large or request.has_answered:
                raise
        if request.is_too_large and not request.has_answered:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the request is larger than {self._max_bytes:,} bytes (SUPERVISE_MAX_BODY_BYTES)"
        headers = {"Connection": "close"}
        response = JSONResponse({"detail": detail}, status_code=TOO_LARGE, headers=headers)
        await response(scope, receive, send)


class _BodyTooLarge(Exception):
    """More bytes were sent than allowed."""


class _CountedRequest:
    """Counts what is received; the client may have announced no length, or a wrong one."""

    def __init__(self, receive: Receive, send: Send, max_bytes: int) -> None:
        self._receive, self._send, self._left = receive, send, max_bytes
        self.has_answered = False

    @property
    def is_too_large(self) -> bool:
        return self._left < 0

    async def receive(self) -> Message:
        if not self.is_too_large:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
        if self.is_too_large:
            raise _BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        """Send a message; not an answer that was made without the rest of the body."""
        if self.is_too_large and not self.has_answered:
            return
        self.has_answered = True
        await self._send(message)
