"""What a request passes before a server: the check of tokens, Retry-After."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from extensions.server.middleware import list_tenant_middleware, note_wait
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
