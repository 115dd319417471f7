"""Answers of a model with more tool calls than are made."""

from typing import Any

import pytest

from graph import build_supervisor
from graph.settings import Settings
from nodes.schemas.team import Team, Worker
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.teams import make_team

pytestmark = pytest.mark.slow

REQUEST = "Compare the parts and say which one is best."


async def test_h25_of_twenty_calls_in_one_turn_eight_are_made_and_all_are_answered_in_order(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=(script_sums(20),)))

    state = await build_supervisor(make_computing_team(), settings=settings).ainvoke(
        {"request": REQUEST}
    )

    body = endpoint.select_calls(task="a")[-1].body
    heard = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    assert state["results"]["a"].status == "completed"
    assert len(heard) == 20
    assert all(str(1000 + n) in text for n, text in enumerate(heard[:8]))
    assert all("only 8 calls" in text for text in heard[8:])


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("call_id", ["call_1", ""])
async def test_of_calls_that_share_one_id_no_more_are_made_than_of_others(
    endpoint: Endpoint, settings: Settings, call_id: str, streaming: bool
) -> None:
    task = script_sums(100, call_id=call_id)
    endpoint.load_scenario(Scenario(tasks=(task,)))
    settings = settings.model_copy(update={"stream": streaming})

    state = await build_supervisor(make_computing_team(), settings=settings).ainvoke(
        {"request": REQUEST}
    )

    body = endpoint.select_calls(task="a")[-1].body
    heard = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    assert state["results"]["a"].status == "completed"
    assert len(heard) == 100
    assert [n for n, text in enumerate(heard) if "only 8 calls" not in text] == list(range(8))


@pytest.mark.parametrize("streaming", [False, True])
async def test_an_answer_with_thousands_of_calls_is_refused_and_none_is_made(
    endpoint: Endpoint, settings: Settings, streaming: bool
) -> None:
    endpoint.load_scenario(Scenario(tasks=(script_sums(5000),)))
    settings = settings.model_copy(update={"stream": streaming})
    graph = build_supervisor(make_computing_team(max_attempts=1), settings=settings)

    state = await graph.ainvoke({"request": REQUEST})

    assert "more than 128 tool calls in one answer" in state["results"]["a"].error
    assert {len(call.body["messages"]) for call in endpoint.select_calls(task="a")} == {2}


def script_sums(count: int, **more: Any) -> ScriptedTask:
    calls = tuple(("calculate", {"expression": f"{n} + 1000"}) for n in range(count))
    return ScriptedTask(id="a", worker="analyst", tool_calls=calls, calls_a_turn=count, **more)


def make_computing_team(**fields: Any) -> Team:
    analyst = Worker(
        name="analyst", description="Computes.", instructions="Compute.", tools=("calculate",)
    )
    return make_team(**fields).model_copy(update={"workers": (analyst,)})
