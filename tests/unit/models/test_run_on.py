"""Replies that are complete and run on, and replies that are cut: what was asked for is taken."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from nodes.errors import ResponseCut
from nodes.models.catalog import ModelCatalog
from nodes.models.reply_stream import MAX_EXTRA_PARTS, MAX_WORDS_CHARS, RunOnWatch
from nodes.models.settings import ModelSettings
from supervisor_worker.testing.endpoint.scripted_model import ModelReply as Said
from supervisor_worker.testing.endpoint.wire import build_completion, estimate_usage

WORDS = [f"word{number} " for number in range(400)]
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


def count_parts(*parts: str) -> int | None:
    """Return after how many parts a reply is left; None if it is read to its end."""
    watch = RunOnWatch()
    return next((at for at, part in enumerate(parts, 1) if watch.is_over(part)), None)


@pytest.mark.parametrize("extra", ["\n", " And", "x"])
def test_a_complete_value_that_runs_on_is_left(extra: str) -> None:
    parts = [*CALL, *[extra] * 100]

    assert count_parts(*parts) == len(CALL) + MAX_EXTRA_PARTS + 1


@pytest.mark.parametrize("text", ["Words about {braces} ", "# Heading\n{} ", "The call is "])
def test_a_reply_in_words_is_read_to_its_end(text: str) -> None:
    assert count_parts(*text, *WORDS) is None


def test_words_in_place_of_a_call_are_left_when_they_are_long() -> None:
    watch = RunOnWatch(wants_call=True)

    at = next(number for number, part in enumerate(WORDS, 1) if watch.is_over(part))

    assert len("".join(WORDS[:at])) > MAX_WORDS_CHARS >= len("".join(WORDS[: at - 2]))


def test_a_call_after_some_words_is_waited_for() -> None:
    watch = RunOnWatch(wants_call=True)

    assert not any(watch.is_over(part) for part in ["I call it: ", "{", *WORDS])


def test_a_second_value_is_read_and_a_ninth_is_not() -> None:
    assert count_parts(*[CALL, "\n"] * 7) is None
    assert count_parts(*[CALL, "\n"] * 9) == 15


@given(
    st.recursive(
        st.text(max_size=9) | st.integers(),
        lambda v: st.lists(v) | st.dictionaries(st.text(max_size=5), v),
        max_leaves=8,
    )
)
def test_json_is_never_left_before_its_end(value: Any) -> None:
    assert count_parts(*json.dumps({"value": value}, ensure_ascii=False)) is None


class WordServer:
    """A server that ignores `tool_choice`: it streams or sends a text, and says how it ended."""

    def __init__(self, text: str, finish: str = "length") -> None:
        self.text, self.finish, self.bodies = text, finish, list[dict[str, Any]]()
        self.sent_parts = 0

    async def respond(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        said = Said(content=self.text)
        if not body.get("stream"):
            usage = estimate_usage(said, 100)
            return web.json_response(
                build_completion(said, body, len(self.bodies), finish=self.finish, usage=usage)
            )
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for part in [self.text, *["\n"] * 500]:
            delta = {"index": 0, "delta": {"content": part}, "finish_reason": None}
            event = {"id": "1", "object": "chat.completion.chunk", "choices": [delta]}
            try:
                await response.write(f"data: {json.dumps(event)}\n\n".encode())
            except ConnectionError:
                break
            self.sent_parts += 1
        return response


async def ask_for_call(
    server: WordServer, *, is_slow: bool = False, times: int = 1, tools: Sequence[Any] = ()
) -> AIMessage:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.respond)
    async with TestServer(app) as served:
        address = str(served.make_url("/v1"))
        settings = ModelSettings(fast="openai:m", base_url=address, api_key="sk-x", max_tries=1)
        model = ModelCatalog(settings).get_chat_model("fast")
        if is_slow:
            model.speed.record_answer(100, 50.0)  # type: ignore[attr-defined]
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


async def test_a_slow_servers_stream_is_left_when_its_call_is_complete() -> None:
    server = WordServer(CALL)

    reply = await ask_for_call(server, is_slow=True)

    assert [call["name"] for call in reply.tool_calls] == ["find"]
    assert server.bodies[0]["stream"] is True
    assert reply.response_metadata["uncounted"] is True


def test_a_reply_that_repeats_itself_is_left_as_one_that_was_cut() -> None:
    watch, line = RunOnWatch(), "- The market grew by 18.5 percent in the year 2024.\\n"

    parts = ['{"text": "', *[line] * 100]
    at = next((number for number, part in enumerate(parts) if watch.is_over(part)), None)

    assert at is not None and at < 40 and watch.is_repeated


def test_a_long_table_is_no_repetition() -> None:
    rows = [
        f"| shop {number} | {number * 37} EUR | {number % 7} percent |\\n" for number in range(300)
    ]

    assert count_parts('{"text": "', *rows) is None


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
