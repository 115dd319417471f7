"""A value of the vocabulary comes out of whatever form a model gives it."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from pydantic import TypeAdapter

from nodes.errors import BudgetSpent, EndpointFailed
from nodes.models.catalog import ModelCatalog
from nodes.models.json_reading import InvalidJson, read_json_object
from nodes.models.reply_stream import OfferedReply, build_input_key, offer_reply, take_offered_reply
from nodes.models.settings import ModelSettings
from nodes.models.structured_output import (
    MAX_PROBLEMS,
    UnreadableReply,
    ask_model,
    build_lenient_schema,
    read_value,
)
from state import Plan, Report
from tests.endpoint import Endpoint, ModelReply, Scenario, script_tasks

GOOD = Scenario(tasks=script_tasks({"a": (), "b": ("a",)})).build_plan()
QUESTION = [HumanMessage("plan it")]
plain = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**63, 2**63 - 1) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=8), plain, max_size=5)
chatter = st.text(st.characters(exclude_characters="{`"), max_size=60)


@pytest.mark.parametrize(
    "message",
    [
        GOOD,
        {**GOOD, "mood": "sunny"},
        {**GOOD, "tasks": [{**task, "priority": 1} for task in GOOD["tasks"]]},
        json.dumps(GOOD),
        f"Here it is:\n```json\n{json.dumps(GOOD, indent=2)}\n```\nHope it {{helps}}.",
        f"My plan is {json.dumps(GOOD)} and that is all.",
    ],
    ids=["call", "unknown key", "unknown nested key", "content", "fence", "prose around"],
)
async def test_a_plan_is_read_from_every_form_it_comes_in(
    endpoint: Endpoint, model_settings: ModelSettings, message: Any
) -> None:
    endpoint.load_scenario(Scenario(answers={"Plan": message}))

    reply = await ask_model(ModelCatalog(model_settings).get_chat_model("strong"), Plan, QUESTION)

    assert [task.id for task in reply.value.tasks] == ["a", "b"]
    assert reply.usage.input_tokens > 0
    assert reply.usage.models == ("openai:gpt-5",)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("I had rather not.", "no JSON object"),
        ('{"goal": "x", "tasks": [],}', "broken"),
        ({"goal": "x", "tasks": []}, "tasks"),
        ({"goal": "x", "tasks": [{"id": "a b", "description": "d", "worker": "w"}]}, "tasks[0].id"),
        ('{"goal": NaN}', "NaN"),
        ('{"goal": 1e999}', "Infinity"),
        ('{"goal": 18446744073709551616}', "64 bits"),
        ('{"goal": ' + "[" * 100_000, "broken|deep"),
        ("[1, 2]", "no JSON object"),
        ("null", "no JSON object"),
        (json.dumps(GOOD)[:-20], "broken"),
        ('{"goal": "x", "goal": "y"}', "'goal' appears twice"),
        (ModelReply("Plan", GOOD, (("Plan", {**GOOD, "goal": "x"}),)), "called 2 times"),
        ({**GOOD, "tasks": [*GOOD["tasks"], {"id": "c"}]}, "tasks[2].worker: Field required"),
        ({**GOOD, "edges": [{"from": "a", "to": "b"}]}, "edges: there is no such key"),
    ],
)
async def test_what_does_not_fit_comes_back_as_sentences_for_the_model(
    endpoint: Endpoint, model_settings: ModelSettings, message: Any, problem: str
) -> None:
    endpoint.load_scenario(Scenario(answers={"Plan": message}))

    with pytest.raises(UnreadableReply) as raised:
        await ask_model(ModelCatalog(model_settings).get_chat_model("strong"), Plan, QUESTION)

    assert any(word in "; ".join(raised.value.problems) for word in problem.split("|"))
    assert raised.value.usage.model_calls == 1
    assert raised.value.reply_text


async def test_the_schema_shown_may_be_tighter_than_the_vocabulary(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()})))
    tight = {"type": "object", "properties": {"goal": {"type": "string"}}, "required": ["goal"]}

    await ask_model(
        ModelCatalog(model_settings).get_chat_model("strong"), Plan, QUESTION, parameters=tight
    )

    (call,) = endpoint.requests
    shown = call.body["response_format"]["json_schema"]
    assert shown == {"name": "Plan", "schema": tight}
    assert "tools" not in call.body and "tool_choice" not in call.body


def test_a_lenient_schema_drops_unknown_keys_and_gives_the_schema_itself() -> None:
    twin = build_lenient_schema(Report)
    found = {"output": "x", "mood": 1, "claims": [{"text": "a", "weight": 2}], "tasks": ["a"]}

    made = TypeAdapter(twin).validate_python(found)

    assert type(made) is Report
    assert made.claims[0].text == "a"
    assert twin.__name__ == "Report"
    assert twin.model_json_schema() == Report.model_json_schema()


def test_a_lenient_schema_still_refuses_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="status"):
        build_lenient_schema(Report).model_validate({"status": "fine", "mood": 1})


def test_a_report_that_is_cut_is_not_read_as_one_of_its_parts() -> None:
    with pytest.raises(UnreadableReply, match="broken"):
        read_value('{"output": "x", "claims": [{"text": "a", "source": "b"}, ', Report)


async def test_two_calls_that_say_the_same_are_one(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(answers={"Plan": ModelReply("Plan", GOOD, (("Plan", GOOD),))}))
    streamed = replace(model_settings, streaming=True)

    for settings in (model_settings, streamed):
        reply = await ask_model(ModelCatalog(settings).get_chat_model("strong"), Plan, QUESTION)

        assert [task.id for task in reply.value.tasks] == ["a", "b"]


def test_of_many_problems_the_first_are_listed_and_the_others_counted() -> None:
    tasks = [{"id": str(number), "description": "d"} for number in range(40)]

    with pytest.raises(UnreadableReply) as raised:
        read_value({"goal": "g", "tasks": tasks}, Plan)

    assert raised.value.problems[0] == "tasks[0].worker: Field required"
    assert raised.value.problems[-1] == f"and {40 - MAX_PROBLEMS} more"


@given(objects, chatter, chatter)
def test_an_object_is_found_between_any_words(
    found: dict[str, Any], before: str, after: str
) -> None:
    assert read_json_object(before + json.dumps(found) + after) == found


@given(objects, chatter)
@example(found={"": {}, "```": None}, before="")
def test_a_fenced_object_goes_before_other_words(found: dict[str, Any], before: str) -> None:
    assert read_json_object(f"{before}\n```json\n{json.dumps(found)}\n```\n{{not this}}") == found


@given(st.text(max_size=200))
def test_any_text_is_an_object_or_unfit(text: str) -> None:
    try:
        assert isinstance(read_json_object(text), dict)
    except InvalidJson as error:
        assert str(error)


def test_a_text_of_nothing_but_braces_is_given_up_soon() -> None:
    with pytest.raises(InvalidJson):
        read_json_object("{" * 200_000)


MODEL = "openai:gpt-5"
MESSAGES = [SystemMessage("Work."), HumanMessage("task: A")]
OPTIONS: dict[str, Any] = {"tools": [{"name": "Report"}], "tool_choice": "any"}
ANSWER = AIMessage("It costs 42 euros.")


def make_reply(outcome: AIMessage | Exception = ANSWER, key: str | None = None) -> OfferedReply:
    call: asyncio.Future[AIMessage] = asyncio.get_running_loop().create_future()
    if isinstance(outcome, Exception):
        call.set_exception(outcome)
    else:
        call.set_result(outcome)
    reply = OfferedReply(call)
    reply.key = build_input_key(MODEL, MESSAGES, OPTIONS) if key is None else key
    return reply


async def test_a_reply_answers_the_same_call_once() -> None:
    with offer_reply(make_reply()):
        assert await take_offered_reply(MODEL, MESSAGES, OPTIONS) == ANSWER
        assert await take_offered_reply(MODEL, MESSAGES, OPTIONS) is None


@pytest.mark.parametrize(
    ("model", "messages", "options"),
    [
        ("openai:gpt-5-mini", MESSAGES, OPTIONS),
        (MODEL, MESSAGES[:1], OPTIONS),
        (MODEL, [MESSAGES[0], HumanMessage("task: B")], OPTIONS),
        (MODEL, [HumanMessage("Work."), MESSAGES[1]], OPTIONS),
        (MODEL, MESSAGES, {**OPTIONS, "tool_choice": "auto"}),
        (MODEL, MESSAGES, {**OPTIONS, "tools": []}),
    ],
    ids=["model", "fewer messages", "other words", "other role", "other choice", "other tools"],
)
async def test_a_call_with_another_input_is_made_itself(
    model: str, messages: Any, options: dict[str, Any]
) -> None:
    reply = make_reply()

    with offer_reply(reply):
        assert await take_offered_reply(model, messages, options) is None

    assert not reply.was_taken


async def test_a_call_that_has_not_been_sent_answers_nothing() -> None:
    with offer_reply(make_reply(key="")):
        assert await take_offered_reply(MODEL, MESSAGES, OPTIONS) is None


async def test_the_failure_of_the_call_is_that_of_the_one_that_takes_it() -> None:
    with offer_reply(make_reply(EndpointFailed("no answer"))), pytest.raises(EndpointFailed):
        await take_offered_reply(MODEL, MESSAGES, OPTIONS)


async def test_a_call_that_the_budget_refused_early_is_made_in_its_turn() -> None:
    reply = make_reply(BudgetSpent("tokens", limit=2_000, spent=0, held=1_200, needed=900))

    with offer_reply(reply):
        assert await take_offered_reply(MODEL, MESSAGES, OPTIONS) is None
        assert await take_offered_reply(MODEL, MESSAGES, OPTIONS) is None

    assert not reply.was_taken


async def test_a_call_in_flight_is_awaited_and_ends_with_the_one_that_waits() -> None:
    reply = OfferedReply(asyncio.ensure_future(asyncio.sleep(60, ANSWER)))
    reply.key = build_input_key(MODEL, MESSAGES, OPTIONS)

    with offer_reply(reply):
        waiting = asyncio.ensure_future(take_offered_reply(MODEL, MESSAGES, OPTIONS))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert reply.call.cancelled()


async def test_a_reply_is_offered_inside_alone() -> None:
    with offer_reply(make_reply()):
        pass

    assert await take_offered_reply(MODEL, MESSAGES, OPTIONS) is None
