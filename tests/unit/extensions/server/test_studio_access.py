"""The development server's door, without the server: sockets, own calls, names, settings."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from extensions.server.studio_access import build_app
from graph.settings import Settings
from nodes.errors import SettingsInvalid

EVIL = {"origin": "http://evil.test"}


async def send_greeting(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


async def close_socket(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("hello")
    await socket.close()


def make_client(
    host: str = "127.0.0.1:2024", *, root_path: str = "", **settings: Any
) -> TestClient:
    app = build_app(Settings(**{"server_edition": "inmem", **settings}))
    app.router.routes = [
        Route("/", send_greeting, methods=["GET", "POST"]),
        WebSocketRoute("/ws", close_socket),
    ]
    assert isinstance(app, Starlette)
    return TestClient(app, base_url=f"http://{host}", root_path=root_path)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("localhost:2024", 200), ("127.0.0.1", 200), ("[::1]:2024", 200), ("10.1.2.3:80", 200)),
        *(("evil.test", 403), ("evil.test:2024", 403), ("127.0.0.1.evil.test", 403)),
        *(("localhost.evil.test", 403), ("box.trycloudflare.com", 200)),
    ],
)
def test_the_server_goes_by_addresses_and_its_own_names(host: str, status: int):
    client = make_client(host, server_url="https://box.trycloudflare.com")

    assert client.get("/").status_code == status


def test_a_socket_of_another_page_is_closed():
    address, studio = "ws://127.0.0.1:2024/ws", {"origin": "https://smith.langchain.com"}

    with (
        pytest.raises(WebSocketDisconnect) as closed,
        make_client().websocket_connect(address, headers=EVIL),
    ):
        pass
    with make_client().websocket_connect(address, headers=studio) as socket:
        greeted = socket.receive_text()

    assert "evil.test" in closed.value.reason
    assert greeted == "hello"


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        *(("cross-site", "no-cors", 403), ("same-site", "no-cors", 403)),
        *(("cross-site", "navigate", 200), ("same-origin", "cors", 200), ("none", "navigate", 200)),
    ],
)
def test_what_another_page_embeds_is_refused_and_a_link_is_not(site: str, mode: str, status: int):
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}

    assert make_client().get("/", headers=headers).status_code == status


def test_the_servers_calls_to_itself_are_passed_on():
    assert make_client("api", root_path="/noauth").get("/").status_code == 200
    assert make_client("api").get("/").status_code == 403


def test_pages_of_the_user_are_served_where_they_are_listed():
    listed = Settings(
        server_edition="inmem", studio_origins="http://localhost:3000/, http://box:80"
    )

    client = make_client(studio_origins=listed.studio_origins)

    assert client.post("/", headers={"origin": "http://localhost:3000"}).status_code == 200
    assert client.post("/", headers={"origin": "http://localhost:3001"}).status_code == 403
    assert make_client("box:2024", studio_origins=listed.studio_origins).get("/").status_code == 200


def test_a_refusal_says_what_to_set():
    text = make_client().post("/", headers=EVIL).json()["detail"]

    assert "http://evil.test" in text and "SUPERVISE_STUDIO_ORIGINS" in text


def test_a_page_of_the_server_itself_is_served():
    assert make_client().post("/", headers={"origin": "http://127.0.0.1:2024"}).status_code == 200


def test_a_deployed_server_keeps_its_own_rules():
    client = make_client("mine.example", server_edition="postgres")

    assert client.post("/", headers=EVIL).status_code == 200


@pytest.mark.parametrize("value", ["localhost:3000", "http://a.test/page", "https://"])
def test_what_is_no_origin_is_refused_by_name(value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SUPERVISE_STUDIO_ORIGINS", value)

    with pytest.raises(SettingsInvalid, match="SUPERVISE_STUDIO_ORIGINS"):
        Settings()
