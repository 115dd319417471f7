"""A body that is too large is refused, whatever the server does with the error."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from extensions.server.tenant_middleware import BodyLimitMiddleware

SCOPE: dict[str, Any] = {"type": "http", "method": "POST", "path": "/threads", "headers": []}


async def answer(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b"x"})


async def read_all(receive: Receive) -> None:
    while (await receive()).get("more_body"):
        pass


async def plain(scope: Scope, receive: Receive, send: Send) -> None:
    await read_all(receive)
    await answer(send, 200)


async def answers_every_error(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        await read_all(receive)
    except Exception:
        await answer(send, 400)


async def wraps_every_error(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        await read_all(receive)
    except Exception as error:
        raise ExceptionGroup("of a task group", [error]) from None


async def reads_once_more(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        await read_all(receive)
    except Exception:
        await read_all(receive)


async def call(app: Callable[[Scope, Receive, Send], Awaitable[None]], chunks: int) -> list[Any]:
    """Return the statuses that a client sees after so many chunks of 10 bytes."""
    sent: list[Message] = []
    waiting = [
        {"type": "http.request", "body": b"0123456789", "more_body": index < chunks - 1}
        for index in range(chunks)
    ]

    async def receive() -> Message:
        return waiting.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    await BodyLimitMiddleware(app, max_bytes=30)(SCOPE, receive, send)
    return [message["status"] for message in sent if "status" in message]


@pytest.mark.parametrize("app", [plain, answers_every_error, wraps_every_error, reads_once_more])
async def test_a_body_without_a_length_is_refused_with_413(app: Any) -> None:
    assert await call(app, chunks=4) == [413]


async def test_a_body_within_the_limit_is_forwarded() -> None:
    assert await call(plain, chunks=3) == [200]


async def test_an_error_of_the_server_itself_stays_one() -> None:
    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("of the server")

    with pytest.raises(ValueError, match="of the server"):
        await call(fails, chunks=1)
