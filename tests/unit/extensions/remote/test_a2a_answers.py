"""Answers of an A2A agent that are not what the protocol says."""

import json
from typing import Any

import httpx
import pytest

from extensions.remote.a2a_protocol import open_a2a
from extensions.remote.session import RemoteRequest
from nodes.net.connection import RemoteRefused, RemoteUnreadable
from nodes.schemas.servers import RemoteSpec

SPEC = RemoteSpec(protocol="a2a", url="http://far.test")
REQUEST = RemoteRequest(key="k", words="Find it.", full_text="Find it.")


def make_card(url: str) -> dict[str, Any]:
    place = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    names: dict[str, Any] = {"name": "x", "description": "x", "version": "1"}
    lists = {"defaultInputModes": ["text"], "defaultOutputModes": ["text"], "skills": []}
    return {**names, **lists, "capabilities": {}, "supportedInterfaces": [place]}


async def begin_with_answer(text: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=make_card("http://far.test/"))
        return httpx.Response(200, text=text)

    async with open_a2a(SPEC, {}, httpx.MockTransport(answer)) as session:
        await session.begin(REQUEST)


async def begin(task: Any, *, url: str = "http://far.test/") -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=make_card(url))
        asked = json.loads(request.content)
        result = {"task": task} if asked["method"] == "SendMessage" else {"tasks": []}
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": asked["id"], "result": result})

    async with open_a2a(SPEC, {}, httpx.MockTransport(answer)) as session:
        await session.begin(REQUEST)


@pytest.mark.parametrize("task", [[3], {"id": "t", "status": {"timestamp": "\x1b[2Jnow"}}])
async def test_a_task_of_another_form_is_an_error_of_the_agent(task: Any) -> None:
    with pytest.raises(RemoteUnreadable, match=r"the answer of far\.test is not A2A") as failure:
        await begin(task)

    assert "\x1b" not in failure.value.format_line()


@pytest.mark.parametrize("levels", [2_000, 200_000])
async def test_an_answer_that_is_nested_too_deeply_is_an_error_of_the_agent(levels: int) -> None:
    task = f'{{"id": "t", "metadata": {{"x": {"[" * levels}{"]" * levels}}}}}'

    with pytest.raises(RemoteUnreadable):
        await begin_with_answer(f'{{"jsonrpc": "2.0", "id": "1", "result": {{"task": {task}}}}}')


async def test_a_card_cannot_send_the_task_to_another_server() -> None:
    with pytest.raises(RemoteRefused, match=r"names another address, evil\.test"):
        await begin({}, url="http://evil.test/")
