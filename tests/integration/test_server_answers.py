"""Answers to questions of a run on `langgraph dev`, as chat clients and inboxes send them."""

from dataclasses import replace
from typing import Any

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langgraph_sdk.client import LangGraphClient
from pydantic import TypeAdapter

from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.human_replies import PLAN_REPLIES
from tests.integration.dev_server import QUESTION, REQUEST, TEAM, run_to_end

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("langgraph_dev")]

APPROVAL = {"approve_plan": True}
ASKED = {"reason": "ambiguous_input", "message": "Which year?"}
ASKING = ScriptedTask(
    id="A", report=[{"status": "escalated", "output": "", "escalation": ASKED}, {"output": "42"}]
)


async def list_interrupts(client: LangGraphClient, thread: str) -> list[Any]:
    state = await client.threads.get_state(thread)
    return [each for task in state["tasks"] for each in task["interrupts"]]


async def test_a_plan_that_waits_is_a_request_of_langchains_middleware(
    client: LangGraphClient, thread: str, played: Endpoint
):
    await run_to_end(
        client, thread, {"messages": [{"role": "user", "content": QUESTION}]}, context=APPROVAL
    )

    (asked,) = await list_interrupts(client, thread)
    held: Any = await client.threads.get(thread)
    TypeAdapter(HITLRequest).validate_python(asked["value"])
    assert asked["value"]["action_requests"][0]["name"] == "run_plan"
    assert asked["response_schema"] == asked["value"]["response_schema"]
    assert held["status"] == "interrupted"
    assert [message["type"] for message in held["values"]["messages"]] == ["human", "ai"]
    assert "Approve the plan" in held["values"]["messages"][-1]["content"]


@pytest.mark.parametrize("client_name", PLAN_REPLIES)
async def test_the_reply_of_each_client_decides_about_the_plan(
    client: LangGraphClient, thread: str, played: Endpoint, client_name: str
):
    reply, kind = PLAN_REPLIES[client_name]
    await run_to_end(client, thread, REQUEST, context=APPROVAL)

    ended = await run_to_end(client, thread, None, command={"resume": reply})

    if kind == "reject":
        assert ended["__interrupt__"][0]["value"]["plan"]["version"] == 2
    else:
        expected = {"C"} if kind == "edit" else {"A", "B"}
        assert (ended["status"], set(ended["results"])) == ("done", expected)


async def test_a_workers_question_is_seen_and_answered_in_the_chat(
    client: LangGraphClient, thread: str, played: Endpoint
):
    played.load_scenario(Scenario(tasks=(ASKING,)))
    await run_to_end(client, thread, REQUEST, context={"ask_human": True})
    (asked,) = await list_interrupts(client, thread)
    state: Any = await client.threads.get_state(thread)
    history: Any = await client.threads.get_history(thread)

    message = {"role": "user", "content": "2025"}
    ended = await run_to_end(client, thread, {"messages": [message]})

    assert asked["value"]["question"] == "Which year?"
    for held in (state, history[0]):
        assert "Which year?" in held["values"]["messages"][-1]["content"]
    assert ended["status"] == "done" and "2025" in str(played.select_calls(task="A")[-1].body)
    assert [message["type"] for message in ended["messages"]] == ["human", "ai", "human", "ai"]


async def test_a_result_that_is_waited_for_has_each_question_once_beside_the_state(
    client: LangGraphClient, thread: str, played: Endpoint
):
    tasks = (ASKING, replace(ASKING, id="B"), ScriptedTask(id="C", latency_s=0.5))
    played.load_scenario(Scenario(tasks=tasks))

    ended = await run_to_end(client, thread, REQUEST, context={"ask_human": True})

    asked = [each["value"]["task"] for each in ended["__interrupt__"]]
    assert sorted(asked) == ["A", "B"] and ended["request"] == QUESTION
    assert len(ended["messages"]) == 3


async def test_a_thread_that_was_streamed_with_subgraphs_is_known_to_wait(
    client: LangGraphClient, thread: str, played: Endpoint
):
    played.load_scenario(Scenario(tasks=(ASKING, ScriptedTask(id="B", latency_s=0.5))))

    async for _ in client.runs.stream(
        thread,
        TEAM,
        input=REQUEST,
        context={"ask_human": True},
        stream_mode="values",
        stream_subgraphs=True,
    ):
        pass

    held = await client.threads.get(thread)
    assert held["status"] == "interrupted" and len(held["interrupts"]) == 1
