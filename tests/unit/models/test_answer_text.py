"""The text of an answer, read while a model writes the JSON around it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from nodes.models.reply_stream import AnswerTextListener, ReplyTextReader, read_answer_text


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
