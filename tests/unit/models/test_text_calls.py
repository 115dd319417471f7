"""Tool calls are read from text in the dialects of the common chat templates, and nothing else."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from nodes.models.reply_reading import MAX_TEXT_CHARS, clean_words, read_text_calls

TOOLS: dict[str, Any] = {
    "find": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
    "calculate": {
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    },
    "Report": {
        "type": "object",
        "properties": {
            "output": {"type": "string"},
            "confidence": {"type": "integer"},
            "claims": {"type": "array"},
        },
        "required": ["output"],
    },
}
FIND = ("find", {"query": "2024", "limit": 3})
CALCULATE = ("calculate", {"expression": "6 * 7"})
ARGUMENTS = json.dumps(FIND[1])
CALL = json.dumps({"name": "find", "arguments": FIND[1]})

DIALECTS = {
    "Hermes and Qwen": f"I look.\n<tool_call>\n{CALL}\n</tool_call>",
    "Llama": '<|python_tag|>{"name": "find", "parameters": ' + ARGUMENTS + "}<|eom_id|>",
    "Llama's function tag": f"<function=find>{ARGUMENTS}</function>",
    "Qwen-coder": "<tool_call>\n<function=find>\n<parameter=query>\n2024\n</parameter>\n"
    "<parameter=limit>\n3\n</parameter>\n</function>\n</tool_call>",
    "Mistral": f"[TOOL_CALLS][{CALL}]",
    "Mistral with names": f"[TOOL_CALLS]find[ARGS]{ARGUMENTS}",
    "Mistral with ids": f"[TOOL_CALLS]find[CALL_ID]a1b2c3d4e[ARGS]{ARGUMENTS}",
    "DeepSeek V3": "<\uff5ctool▁calls▁begin\uff5c><\uff5ctool▁call▁begin\uff5c>"
    f"function<\uff5ctool▁sep\uff5c>find\n```json\n{ARGUMENTS}\n```<\uff5ctool▁call▁end\uff5c>",
    "DeepSeek V3.1": "<\uff5ctool▁calls▁begin\uff5c><\uff5ctool▁call▁begin\uff5c>"
    f"find<\uff5ctool▁sep\uff5c>{ARGUMENTS}<\uff5ctool▁call▁end\uff5c>",
    "gpt-oss": "<|channel|>commentary to=functions.find <|constrain|>json<|message|>"
    f"{ARGUMENTS}<|call|>",
    "GLM": "<tool_call>find\n<arg_key>query</arg_key>\n<arg_value>2024</arg_value>\n"
    "<arg_key>limit</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    "the protocol's own form": json.dumps(
        {"tool_calls": [{"type": "function", "function": {"name": "find", "arguments": ARGUMENTS}}]}
    ).removeprefix('{"tool_calls": ')[:-1],
    "a fence": f"Here is the call:\n```json\n{CALL}\n```\nThat is all.",
    "no fence": CALL,
    "another name for each key": '{"tool": "find", "tool_input": ' + ARGUMENTS + "}",
    "arguments encoded twice": json.dumps({"name": "find", "arguments": ARGUMENTS}),
    "arguments encoded three times": json.dumps(
        {"name": "find", "arguments": json.dumps(ARGUMENTS)}
    ),
    "another name": '{"name": "search_all", "arguments": ' + ARGUMENTS + "}",
    "no name": ARGUMENTS,
    "braces before it": f"The set {{a}} and [1] are given. {CALL}",
}


@pytest.mark.parametrize("text", DIALECTS.values(), ids=DIALECTS.keys())
def test_a_call_is_read_in_each_dialect(text: str) -> None:
    assert read_text_calls(text, TOOLS) == [FIND]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{CALL}</tool_call>\n"
        '<tool_call>{"name": "calculate", "arguments": {"expression": "6 * 7"}}</tool_call>',
        f'[TOOL_CALLS][{CALL}, {{"name": "calculate", "arguments": {{"expression": "6 * 7"}}}}]',
        f'[TOOL_CALLS]find[ARGS]{ARGUMENTS}[TOOL_CALLS]calculate[ARGS]{{"expression": "6 * 7"}}',
        "<tool_call>find<arg_key>query</arg_key><arg_value>2024</arg_value><arg_key>limit</arg_key>"
        "<arg_value>3</arg_value></tool_call><tool_call>calculate<arg_key>expression</arg_key>"
        "<arg_value>6 * 7</arg_value></tool_call>",
    ],
    ids=["Hermes", "Mistral", "Mistral with names", "GLM"],
)
def test_several_calls_of_one_reply_are_read_in_their_order(text: str) -> None:
    assert read_text_calls(text, TOOLS) == [FIND, CALCULATE]


def test_a_call_that_is_written_twice_is_made_once() -> None:
    assert read_text_calls(f"{CALL}\n{CALL}", TOOLS) == [FIND]


@pytest.mark.parametrize(
    "text",
    [
        "I would rather talk.",
        '{"name": "delete_all", "arguments": {"query": "x"}}',
        'The page says: {"query": "x"}',
        '{"name": "find", "arguments": {"query": "x", "limit": 3}',
        '{"tasks": [{"name": "find", "arguments": {"query": "x"}}], "goal": "cut o',
        '{"query": "x", "query": "y", "limit": 3}',
        '{"query": "x", "limit": NaN}',
        "<function=delete_all><parameter=query>x</parameter></function>",
        "<tool_call>find</tool_call_",
    ],
    ids=[
        *("words", "unknown tool, one key", "one key in prose", "no end", "inside what is cut"),
        *("a key twice", "no number", "unknown tool in tags", "a broken tag"),
    ],
)
def test_what_is_no_call_or_broken_is_not_read_as_one(text: str) -> None:
    assert read_text_calls(text, TOOLS) == []


def test_the_only_tool_on_offer_may_be_called_with_one_key() -> None:
    only = {"calculate": TOOLS["calculate"]}

    assert read_text_calls('{"expression": "6 * 7"}', only) == [CALCULATE]


def test_an_argument_in_tags_is_text_where_the_tool_wants_text() -> None:
    text = "<function=find><parameter=query>true</parameter><parameter=limit>1e999</parameter>"

    assert read_text_calls(text, TOOLS) == [("find", {"query": "true", "limit": "1e999"})]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<think>\nIs it {1}?\n</think>\n\nYes.", "Yes."),
        ("Is it?\n</think>Yes.", "Yes."),
        ("<think>never ends", ""),
        ("I think so.", "I think so."),
    ],
    ids=["thoughts", "opened by the template", "cut", "none"],
)
def test_thoughts_before_a_reply_are_removed(text: str, words: str) -> None:
    assert clean_words(AIMessage(text)).text == words


MARKS = [
    *("<tool_call>", "</tool_call>", "<function=find>", "</function>", "<parameter=query>"),
    *("</parameter>", "<arg_key>query</arg_key>", "<arg_value>", "[TOOL_CALLS]", "[ARGS]"),
    *(
        *("to=functions.find", "<|message|>", "<\uff5ctool▁sep\uff5c>", "```json\n", "<think>"),
        "</think>",
    ),
    *("find", "{", "}", "[", "]", '"', ":", ",", '"name"', '"arguments"', "1", "\\", "NaN"),
    *(CALL, ARGUMENTS, '"query"', "\ud800", "\0"),
]


@given(st.lists(st.sampled_from(MARKS) | st.text(max_size=5), max_size=40).map("".join))
def test_any_text_gives_calls_of_tools_on_offer_or_none(text: str) -> None:
    calls = read_text_calls(str(clean_words(AIMessage(text)).text), TOOLS)

    assert {name for name, _ in calls} <= set(TOOLS)
    assert all(isinstance(arguments, dict) for _, arguments in calls)


@pytest.mark.parametrize("mark", [*MARKS, '{"a":', "[[", "a ", "<tool_call>find <", "<function="])
def test_a_long_text_is_read_in_bounded_time(mark: str) -> None:
    text = mark * (2 * MAX_TEXT_CHARS // len(mark))
    began_s = time.process_time()

    read_text_calls(str(clean_words(AIMessage(text)).text), TOOLS)

    assert time.process_time() - began_s < 2
