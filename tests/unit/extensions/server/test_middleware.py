"""What a request passes before a server: the check of tokens, the limit of bodies, Retry-After."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from extensions.server.middleware import BodyLimitMiddleware, list_tenant_middleware, note_wait
from extensions.server.studio_access import build_app
from extensions.server.users_file import add_user
from graph.settings import Settings
from nodes.errors import SettingsInvalid


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(await request.body())


async def refuse(request: Request) -> PlainTextResponse:
    note_wait(7)
    return PlainTextResponse("busy", 429)


def make_client(settings: Settings) -> TestClient:
    routes = [
        Route("/", echo, methods=["GET", "POST"]),
        Route("/busy", refuse, methods=["GET"]),
        Route("/metrics", echo, methods=["GET"]),
    ]
    return TestClient(Starlette(routes=routes, middleware=list_tenant_middleware(settings)))


def send_in_parts(*parts: bytes) -> Iterator[bytes]:
    yield from parts


def test_a_body_is_read_up_to_its_limit() -> None:
    client = make_client(Settings(max_body_bytes=10))

    assert client.post("/", content=b"x" * 10).text == "x" * 10
    for content in (b"x" * 11, send_in_parts(b"x" * 6, b"x" * 6)):
        answer = client.post("/", content=content)
        assert answer.status_code == 413
        assert "larger than 10 bytes" in answer.json()["detail"]


def test_a_wrong_length_is_not_believed() -> None:
    client = make_client(Settings(max_body_bytes=10))

    answer = client.post("/", content=b"x" * 50, headers={"Content-Length": "3"})

    assert answer.status_code == 413


def test_a_refusal_says_when_to_try_again() -> None:
    client = make_client(Settings())

    assert client.get("/busy").headers["retry-after"] == "7"
    assert "retry-after" not in client.get("/").headers


def test_a_body_is_not_read_without_a_token(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    token = add_user(path, "bob")
    client = make_client(Settings(users_file=path))

    refused = client.post("/", content=send_in_parts(b"x"))
    answered = client.post("/", content=b"x", headers={"Authorization": f"Bearer {token}"})

    assert (refused.status_code, answered.status_code) == (401, 200)
    assert client.get("/").status_code == 200


def test_figures_of_the_process_need_a_token_where_there_are_users(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    token = add_user(path, "bob")
    client = make_client(Settings(users_file=path))

    answers = [
        client.get("/metrics"),
        client.get("/metrics?format=json", headers={"Authorization": f"Bearer {token}"}),
        make_client(Settings()).get("/metrics"),
    ]

    assert [answer.status_code for answer in answers] == [401, 200, 200]


def test_users_without_a_hook_are_a_problem_of_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    add_user(path, "bob")

    with pytest.raises(SettingsInvalid, match="no hook"):
        build_app(Settings(users_file=path, server_edition="inmem"))


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
