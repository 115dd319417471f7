"""What a remote worker answers, and what it asks a human."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.remote.a2a_protocol import open_a2a
from extensions.remote.output import MAX_CLAIMS, MAX_OUTPUT_CHARS, read_report, read_usage
from extensions.remote.questions import describe_question, read_actions
from extensions.remote.session import RemoteRequest
from nodes.net.connection import RemoteRefused, RemoteUnreadable
from nodes.schemas.servers import RemoteSpec

ANSWER: dict[str, Any] = {
    "answer": {
        "text": "It is 42.",
        "confidence": 80,
        "gaps": ["the year is missing"],
        "contradictions": [{"subject": "size", "claims": [], "verdict": ""}],
        "a_key_of_another_version": {},
    },
    "results": {
        "t": {
            "status": "completed",
            "claims": [
                {"text": "x is 1", "source": "a.txt", "new_key": 1},
                {"text": ""},
                "no claim",
            ],
        }
    },
    "status": "done",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def test_an_answer_of_ours_brings_claims_gaps_and_confidence() -> None:
    report = read_report(ANSWER)

    assert (report.output, report.confidence, report.status) == ("It is 42.", 80, "completed")
    assert [claim.text for claim in report.claims] == ["x is 1"]
    assert report.gaps[0] == "the year is missing"
    assert "size" in report.gaps[1]
    assert not report.is_partial
    assert read_report({**ANSWER, "status": "partial"}).is_partial


def test_an_answer_without_a_completed_task_is_a_failure() -> None:
    report = read_report({**ANSWER, "results": {"t": {"status": "failed"}}})

    assert report.status == "failed"
    assert "the year is missing" in report.output


def test_a_failed_run_without_an_answer_is_a_failure_not_an_empty_result() -> None:
    assert read_report({"status": "failed", "messages": []}).status == "failed"
    assert read_report({}).status == "failed"
    assert read_report(None).status == "failed"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "ai", "content": "It is 42."},
        {"role": "assistant", "content": [{"type": "text", "text": "It is 42."}]},
    ],
)
def test_another_graph_answers_by_its_last_message(message: dict[str, Any]) -> None:
    said = [{"type": "human", "content": "?"}, message, {"type": "tool", "content": "7"}]

    assert read_report({"messages": said}).output == "It is 42."


def test_a_state_without_messages_is_shown_as_json() -> None:
    assert read_report({"summary": "short"}).output == '{"summary": "short"}'


def test_text_is_sanitized_and_cut() -> None:
    text = "\x1b[31m" + "x" * (10 * MAX_OUTPUT_CHARS)

    output = read_report({"messages": [{"type": "ai", "content": text}]}).output

    assert "\x1b" not in output
    assert len(output) < MAX_OUTPUT_CHARS + 100


def test_a_flood_of_claims_is_cut() -> None:
    claims = [{"text": f"claim {n}"} for n in range(1000)]
    results = {"t": {"status": "completed", "claims": claims}}

    assert len(read_report({**ANSWER, "results": results}).claims) == MAX_CLAIMS


@pytest.mark.parametrize(
    "said",
    [None, [], {"input_tokens": -5}, {"input_tokens": "9"}, {"input_tokens": 10**30}, {}],
)
def test_usage_that_is_not_credible_is_unknown(said: Any) -> None:
    assert read_usage({"usage": said}) is None


def test_usage_is_taken_from_the_far_side() -> None:
    usage = read_usage(
        {"usage": {"model_calls": 2, "input_tokens": 10, "output_tokens": 5, "cost_usd": 0.5}}
    )

    assert usage is not None
    assert (usage.model_calls, usage.input_tokens, usage.cost_usd) == (2, 10, 0.5)
    priceless = read_usage({"usage": {"input_tokens": 10, "cost_usd": "free"}})
    assert priceless is not None and priceless.cost_usd is None


@given(JSON)
def test_no_state_whatever_its_shape_raises(values: Any) -> None:
    read_report({"answer": values, "results": values, "messages": values, "status": values})
    read_report({"answer": {"text": "x", "gaps": values, "confidence": values}, "results": values})
    read_report(values)
    read_usage({"usage": {"input_tokens": values, "uncounted_calls": values}})
    read_usage(values)


def test_an_answer_that_is_nested_too_deeply_is_none() -> None:
    deep: dict[str, Any] = {}
    for _ in range(2_000):
        deep = {"a": deep}

    assert read_report({"x": deep}).status == "failed"


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


DEEP: dict[str, Any] = {}
for _ in range(2_000):
    DEEP = {"a": DEEP}
ACTION = {"name": "book", "args": {"city": "Rome"}, "description": "May I?"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Which year?", "Which year?"),
        ({"question": "Which year?", "task": "a"}, "Which year?"),
        ({"kind": "confirm", "message": "Sure?"}, "Sure?"),
        ({"amount": 5}, '{"amount": 5}'),
        (["a", "b"], '["a", "b"]'),
        (None, "null"),
        (DEEP, "(nested too deeply to be shown)"),
        ("\x1b[2JWhich\u202e year?", "[2JWhich year?"),
        ("x" * 1_000_000, "x" * 4_000),
    ],
)
def test_a_question_is_shown_in_its_words_and_else_as_json(value: Any, text: str) -> None:
    assert describe_question(value) == text


def test_actions_are_read_from_a_request_for_approval() -> None:
    value = {"action_requests": [ACTION, {"name": "pay"}]}

    assert read_actions(value) == [("book", {"city": "Rome"}, "May I?"), ("pay", {}, "")]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {"action_requests": "no list"},
        {"action_requests": ["no action"]},
        {"action_requests": [ACTION] * 21},
        {"action_requests": [{"name": "book", "args": {"text": "x" * 30_000}}]},
        {"action_requests": [{"name": "book", "args": DEEP}]},
        {"action_requests": [{"name": "book", "args": json.loads('{"a":' * 40 + "1" + "}" * 40)}]},
        {"kind": "question", "action_requests": [ACTION]},
    ],
)
def test_what_is_no_request_for_approval_is_a_question(value: Any) -> None:
    assert not read_actions(value)
