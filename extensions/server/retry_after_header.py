"""Adds `Retry-After` to a refusal where the server drops the headers of what a hook raises."""

from contextvars import ContextVar
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER: Final = "retry-after"

_waits: ContextVar[list[int] | None] = ContextVar("waits", default=None)
"""The seconds that the request at work was told to wait."""


def note_wait(wait_s: int) -> None:
    """Remember how long the client of this request should wait."""
    waits = _waits.get()
    if waits is not None:
        waits.append(wait_s)


class RetryAfterMiddleware:
    """Adds the header to the response of a request whose hook noted a wait."""

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
