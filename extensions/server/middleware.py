"""The middleware that bounds what one client may take of a server; every server has it."""

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final

from langgraph_sdk import Auth
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from extensions.server.authentication import Authenticator, get_authenticator
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


async def read_body(receive: Receive) -> tuple[bytes, Receive]:
    """Return the body of a request, and a `receive` from which it can be read once more."""
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    kept: Iterator[Message] = iter(messages)

    async def replay() -> Message:
        return next(kept, None) or await receive()

    return b"".join(message.get("body", b"") for message in messages), replay


BODY_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""All routes with these need a token; what needs none is read with GET."""
PROCESS_FIGURES: Final = "/metrics"
"""The servers' own route, for which they ask no token."""
IN_PROCESS_ROOT: Final = "/noauth"
"""Root path of a server's calls to itself; no outside request can set it."""


class TokenGateMiddleware:
    """Answers 401 to a request without a valid token that has a body, or asks for figures.

    The servers' own check of tokens comes after the middleware, which reads bodies.
    """

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


HEADER: Final = "retry-after"

_waits: ContextVar[list[int] | None] = ContextVar("waits", default=None)
"""The seconds that the request at work was told to wait."""


def note_wait(wait_s: int) -> None:
    """Remember how long the client of this request should wait."""
    waits = _waits.get()
    if waits is not None:
        waits.append(wait_s)


class RetryAfterMiddleware:
    """Adds `Retry-After` to the response of a request whose hook noted a wait.

    A server may drop the headers of what a hook raises.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request; change only its response's headers."""
        waits: list[int] = []
        _waits.set(waits)

        async def add_header(message: Message) -> None:
            if message["type"] == "http.response.start" and waits:
                headers = MutableHeaders(scope=message)
                headers.setdefault(HEADER, str(waits[-1]))
            await send(message)

        await self._app(scope, receive, add_header)
