"""Answers put together: streams as LangChain adds them, but in linear time; ids; the most calls."""

import json
from collections.abc import AsyncIterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from nodes.errors import BadResponse, ResponseCut
from nodes.models.reply_stream import AnswerTextListener, ReplyTextReader, read_answer_text
from nodes.models.request import (
    BATCH_CHUNKS,
    MAX_TOOL_CALLS,
    collect_stream,
    require_end,
    require_usable,
)

parts = st.builds(
    tool_call_chunk,
    name=st.sampled_from([None, "", "look", "up"]),
    args=st.sampled_from([None, "", "{", "}", '"a": 1', "{}", '{"b": [1, 2]}', "x"]),
    id=st.sampled_from([None, "", "call_1", "call_2"]),
    index=st.sampled_from([None, 0, 1, 2]),
)
deltas = st.builds(
    AIMessageChunk,
    content=st.sampled_from(["", "a", "word "]),
    tool_call_chunks=st.lists(parts, max_size=1),
)


async def stream_chunks(messages: Sequence[AIMessageChunk]) -> AsyncIterator[ChatGenerationChunk]:
    for message in messages:
        yield ChatGenerationChunk(message=message)


def get_arguments(call: Any) -> Any:
    try:
        found = json.loads(call["args"] or "{}", strict=False)
    except ValueError:
        return None
    return found if isinstance(found, dict) and call["name"] else None


@given(messages=st.lists(deltas, min_size=1, max_size=8))
async def test_a_stream_is_what_langchain_makes_of_it(messages: list[AIMessageChunk]) -> None:
    whole = reduce(add, messages)

    result = await collect_stream(stream_chunks(messages))

    made = result.generations[0].message
    assert isinstance(made, AIMessage)
    sound = [call for call in whole.tool_call_chunks if get_arguments(call) is not None]
    assert made.content == whole.content
    assert [(call["name"], call["args"], call["id"] or "") for call in made.tool_calls] == [
        (call["name"], get_arguments(call), call["id"] or "") for call in sound
    ]
    assert len(made.invalid_tool_calls) == len(whole.tool_call_chunks) - len(sound)


async def test_a_stream_of_many_batches_loses_nothing() -> None:
    words = [f"{n} " for n in range(3 * BATCH_CHUNKS + 1)]

    result = await collect_stream(stream_chunks([AIMessageChunk(content=word) for word in words]))

    assert result.generations[0].message.content == "".join(words)


@pytest.mark.slow
async def test_arguments_in_thousands_of_pieces_are_read_once() -> None:
    text = json.dumps({"text": "word " * 60_000})
    pieces = [text[at : at + 8] for at in range(0, len(text), 8)]
    chunks = [
        AIMessageChunk(
            content="", tool_call_chunks=[tool_call_chunk(name=None, args=piece, id=None, index=0)]
        )
        for piece in ["", *pieces]
    ]
    chunks[0].tool_call_chunks[0]["name"] = "write"

    result = await collect_stream(stream_chunks(chunks))

    message = result.generations[0].message
    assert isinstance(message, AIMessage) and message.tool_calls[0]["args"] == json.loads(text)


async def test_of_a_stream_of_calls_without_end_no_more_is_kept_than_tells_that_there_are() -> None:
    calls = [tool_call_chunk(name="look", args="{}", id=f"call_{n}", index=n) for n in range(1000)]

    result = await collect_stream(
        stream_chunks([AIMessageChunk(content="", tool_call_chunks=[call]) for call in calls])
    )

    message = result.generations[0].message
    assert isinstance(message, AIMessage) and len(message.tool_calls) == MAX_TOOL_CALLS + 1


@given(ids=st.lists(st.sampled_from([None, "", "call_1", "call_2"]), max_size=9))
def test_each_call_gets_an_id_of_its_own_and_keeps_one_that_it_has_first(
    ids: list[str | None],
) -> None:
    calls: list[Any] = [{"name": "look", "args": {}, "id": name} for name in ids]

    message, _ = require_end(make_answer(tool_calls=calls), "a model")

    named = [call["id"] for call in message.tool_calls]
    assert len(set(named)) == len(named) and all(named)
    assert {name for name in ids if name} <= set(named)


@pytest.mark.parametrize("kind", ["tool_calls", "invalid_tool_calls"])
def test_an_answer_of_more_calls_than_can_be_heard_is_of_no_use(kind: str) -> None:
    args = {"tool_calls": {}, "invalid_tool_calls": "{"}[kind]
    call = {"name": "look", "args": args, "id": "call_1"}
    most, word = require_end(
        make_answer(tool_calls=[{**call, "args": {}}] * MAX_TOOL_CALLS), "a model"
    )
    more, _ = require_end(make_answer(**{kind: [call] * (MAX_TOOL_CALLS + 1)}), "a model")

    require_usable(most, word, "a model")
    with pytest.raises(BadResponse, match="a model made more than 128 tool calls"):
        require_usable(more, word, "a model")


@pytest.mark.parametrize(
    ("metadata", "position", "reason"),
    [
        ({}, None, None),
        ({}, "last", "stop"),
        ({"status": "completed"}, "last", "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "last",
         "max_output_tokens"),
    ],
)  # fmt: skip
async def test_a_stream_without_a_finish_reason_is_whole_where_its_last_part_says_so(
    metadata: dict[str, Any], position: Any, reason: str | None
) -> None:
    last = AIMessageChunk(content="end", response_metadata=metadata, chunk_position=position)
    result = await collect_stream(stream_chunks([AIMessageChunk(content="The "), last]))

    if reason:
        assert require_end(result, "a model", needs_reason=False)[1] == reason
    else:
        with pytest.raises(ResponseCut, match="has no end"):
            require_end(result, "a model", needs_reason=False)


def test_a_message_that_is_not_streamed_may_lack_a_finish_reason_where_none_is_needed() -> None:
    whole = ChatResult(generations=[ChatGeneration(message=AIMessage("All of it."))])

    assert require_end(whole, "a model", needs_reason=False)[1] == "stop"
    with pytest.raises(ResponseCut, match="has no end"):
        require_end(whole, "a model")


def make_answer(**fields: Any) -> ChatResult:
    noted = {"finish_reason": "tool_calls"}
    message = AIMessage("", response_metadata=noted, **fields)
    return ChatResult(generations=[ChatGeneration(message=message)])


@given(st.text(), st.data())
def test_what_is_read_of_a_part_is_the_beginning_of_the_text(text, data):
    reply = json.dumps({"confidence": 90, "text": text, "gaps": []})
    end = data.draw(st.integers(0, len(reply)))

    assert text.startswith(read_answer_text(reply[:end]))
    assert read_answer_text(reply) == text


@pytest.mark.parametrize("reply", ["", "The prose of an answer", '["text"]', '{"text": 5}', "{x"])
def test_a_reply_without_the_text_of_an_answer_shows_nothing(reply):
    assert read_answer_text(reply) == ""


def test_json_inside_a_code_fence_is_read():
    assert read_answer_text('Here it is:\n```json\n{"text": "Amazon le') == "Amazon le"


def test_the_listener_gets_the_text_of_a_tool_call_and_never_its_json():
    heard: list[str] = []
    reader = ReplyTextReader([AnswerTextListener(heard.append)])

    for part in ('{"text": "Amazon', ' leads.", "confidence": 9', "0}"):
        call = tool_call_chunk(name="Answer", args=part, id="1", index=0)
        message = AIMessageChunk(content="", tool_call_chunks=[call])
        reader.read_chunk(ChatGenerationChunk(message=message))

    assert heard == ["Amazon"]
