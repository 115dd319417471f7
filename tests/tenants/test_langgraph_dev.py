"""Users of LangGraph's development server: nothing of one is in reach of another."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Endpoint
from tests.integration.dev_server import dev_server
from tests.tenants import checks
from tests.tenants.calls import CALLS, MESSAGE, TEAM, Call, a2a
from tests.tenants.world import World, build_world, write_users

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tenants_dev")]
SERVED = [call for call in CALLS if call.dev is not None]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("tenants")
    tokens = write_users(folder / "users.json")
    with Endpoint().run_in_thread() as endpoint:
        env = {
            "OPENAI_API_KEY": "sk-test-0123456789abcdef",
            "OPENAI_BASE_URL": endpoint.base_url,
            "SUPERVISE_USERS": str(folder / "users.json"),
            "SUPERVISE_USER_RUNS": "30",
        }
        with dev_server(folder, **env) as server:
            yield build_world(server.url, tokens, endpoint)


@pytest.fixture(scope="module")
def before(world: World) -> dict[str, Any]:
    return world.read()


@pytest.mark.parametrize("call", SERVED, ids=str)
def test_a_call_reaches_nothing_of_another_user(
    world: World, before: dict[str, Any], call: Call
) -> None:
    assert call.dev is not None
    checks.check_call(world, call, call.dev, before)


def test_every_call_takes_a_token(world: World) -> None:
    checks.check_token_is_needed(world, SERVED)


@pytest.mark.parametrize("check", checks.OF_EVERY_SERVER, ids=lambda check: check.__name__)
def test_what_holds_on_every_server_with_users(
    world: World, check: Callable[[World], None]
) -> None:
    check(world)


def test_a_user_is_served_over_mcp_and_a2a(world: World) -> None:
    call = {"name": TEAM, "arguments": {"request": "Compare the parts."}}
    message = {**MESSAGE, "contextId": "$own"}
    over_a2a = world.send("bob", "POST", "/a2a/$shared", a2a("message/send", message=message))
    with world.client("bob") as client:
        client.headers["accept"] = "application/json, text/event-stream"
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        over_mcp = client.post("/mcp", json=asked)

    for answer in (over_mcp, over_a2a):
        assert "The answer" in answer.text


def test_a_socket_takes_a_token(world: World) -> None:
    handshake = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    handshake["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    with world.client() as client:
        refused = client.get(world.fill("/threads/$done/stream/events"), headers=handshake)

    assert refused.status_code in (401, 403)


def test_no_file_of_the_server_is_read(world: World, tmp_path: Path) -> None:
    checks.check_no_file_of_the_server_is_read(world, tmp_path)


async def test_only_the_owner_of_a_run_stops_its_task(world: World) -> None:
    await checks.check_only_the_owner_stops_a_task(world)  # the last test: it ends the run
