"""The reply of a call that was begun before its turn."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from nodes.errors import BudgetSpent, EndpointFailed
from nodes.models.reply_stream import (
    OfferedReply,
    build_input_key,
    offer_reply,
    take_offered_reply,
)

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
