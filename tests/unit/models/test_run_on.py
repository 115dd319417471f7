"""Replies that are cut: what was asked for is taken, where it is complete."""

from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from langchain_core.messages import AIMessage

from nodes.errors import ResponseCut
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings
from supervisor_worker.testing.endpoint.scripted_model import ModelReply as Said
from supervisor_worker.testing.endpoint.wire import build_completion, estimate_usage

CALL = '{"name": "find", "arguments": {"query": "a } in \\"quotes\\""}}'
FIND = {
    "type": "function",
    "function": {
        "name": "find",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    },
}
REPORT = {
    "type": "function",
    "function": {
        "name": "Report",
        "parameters": {"type": "object", "properties": {"output": {"type": "string"}}},
    },
}


class WordServer:
    """A server that ignores `tool_choice`: it sends a text, and says how it ended."""

    def __init__(self, text: str, finish: str = "length") -> None:
        self.text, self.finish, self.bodies = text, finish, list[dict[str, Any]]()

    async def respond(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        said = Said(content=self.text)
        usage = estimate_usage(said, 100)
        return web.json_response(
            build_completion(said, body, len(self.bodies), finish=self.finish, usage=usage)
        )


async def ask_for_call(
    server: WordServer, *, times: int = 1, tools: Sequence[Any] = ()
) -> AIMessage:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.respond)
    async with TestServer(app) as served:
        address = str(served.make_url("/v1"))
        settings = ModelSettings(fast="openai:m", base_url=address, api_key="sk-x", max_tries=1)
        model = ModelCatalog(settings).get_chat_model("fast")
        bound = model.bind_tools(tools or [FIND, REPORT], tool_choice="any")
        for _ in range(times):
            reply = await bound.ainvoke([])
        return reply


async def test_the_first_complete_call_of_a_reply_that_was_cut_is_taken() -> None:
    server = WordServer(f'{CALL}\n{CALL.replace("quotes", "more")}\n{{"name": "fi')

    reply = await ask_for_call(server)

    assert [call["name"] for call in reply.tool_calls] == ["find"]
    assert reply.tool_calls[0]["args"] == {"query": 'a } in "quotes"'}
    assert len(server.bodies) == 1


async def test_a_reply_that_was_cut_inside_its_only_call_is_an_error() -> None:
    with pytest.raises(ResponseCut):
        await ask_for_call(WordServer(CALL[:-5]))


async def test_after_a_call_as_text_the_next_turn_is_asked_for_by_schema() -> None:
    server = WordServer(CALL, finish="stop")

    await ask_for_call(server, times=2)

    first, second = server.bodies
    assert first["tool_choice"] == "required" and "response_format" not in first
    schema = second["response_format"]["json_schema"]["schema"]
    assert [each["properties"]["name"]["const"] for each in schema["anyOf"]] == ["find", "Report"]


@pytest.mark.parametrize(
    "text",
    [
        'Example: {"output": "x"} and now the real one: {"output": "I was cu',
        '[{"output": "a"}, {"output": "b',
        '{"output": "' + "the same again, " * 200,
    ],
)
async def test_a_value_of_a_cut_reply_that_is_not_its_last_is_not_taken(text: str) -> None:
    with pytest.raises(ResponseCut):
        await ask_for_call(WordServer(text), tools=[REPORT])
