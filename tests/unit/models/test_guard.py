"""What a guarded model tells a run, and what the run tells it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from nodes.errors import CallTimedOut, EndpointFailed
from nodes.events import now_s
from nodes.models.ask import ask
from nodes.models.catalog import Models
from nodes.models.settings import ModelSettings
from nodes.models.usage import usage_of
from state import Plan
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, dag


class Said(TypedDict, total=False):
    said: str


def graph_of(settings: ModelSettings) -> CompiledStateGraph[Said, None, Said, Said]:
    async def node(state: Said) -> Said:
        reply = await ask(Models(settings).chat("fast"), Plan, [HumanMessage("plan it")])
        return {"said": reply.value.goal}

    builder = StateGraph(Said)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile()


async def events_of(settings: ModelSettings, **configurable: Any) -> list[dict[str, Any]]:
    found = []
    stream = graph_of(settings).astream(
        {}, {"configurable": {"began_at": now_s(), **configurable}}, stream_mode="custom"
    )
    try:
        async for event in stream:
            found.append(event)
    except EndpointFailed:
        pass
    return found


async def test_each_call_in_a_run_is_one_event(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    fault = Fault(kind="server_error", nth=(1,))
    endpoint.play(Scenario(tasks=dag({"a": ()}), faults=(fault,)))

    (event,) = await events_of(replace(model_settings, max_tries=2))

    assert event["kind"] == "model_call"
    assert event["model"] == "openai:gpt-5-mini"
    assert event["tier"] == "fast"
    assert event["schema"] == "Plan"
    assert event["tries"] == 2
    assert event["input_tokens"] > 0
    assert event["cost_usd"] > 0
    assert event["seconds"] > 0


async def test_a_failed_call_is_an_event_with_its_code(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.play(Scenario(faults=(Fault(kind="server_error"),)))

    (event,) = await events_of(model_settings)

    assert event["error"] == "ENDPOINT_FAILED"


async def test_no_call_outlives_its_run(endpoint: Endpoint, model_settings: ModelSettings) -> None:
    endpoint.play(Scenario(faults=(Fault(kind="hang"),)))

    with pytest.raises(CallTimedOut, match="run's deadline"):
        await events_of(model_settings, deadline_at=now_s() + 0.1)


async def test_a_run_past_its_deadline_asks_nobody(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    with pytest.raises(CallTimedOut):
        await events_of(model_settings, deadline_at=now_s() - 1)

    assert endpoint.requests == []


async def test_listeners_hear_tokens_while_the_answer_is_checked_whole(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    fault = Fault(kind="cut_stream", nth=(1,))
    endpoint.play(Scenario(tasks=dag({"a": ()}), faults=(fault,)))
    graph = graph_of(replace(model_settings, max_tries=2))

    chunks = [chunk async for chunk, _ in graph.astream({}, stream_mode="messages")]

    assert all(call.stream for call in endpoint.requests)
    assert len(endpoint.requests) == 2
    assert len(chunks) > 3


async def test_a_cancelled_call_hangs_up_and_frees_its_slot(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.play(Scenario(faults=(Fault(kind="hang", nth=(1,)),)))
    model = Models(replace(model_settings, max_concurrency=1)).chat("fast")

    call = asyncio.create_task(model.ainvoke("hello"))
    await endpoint.reach(1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert (await model.ainvoke("hello")).content
    assert endpoint.requests[0].client_gone


async def test_a_workers_turn_offers_its_tools_and_the_report(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    @tool
    def look_up(word: str) -> str:
        """Look a word up."""
        return word

    made = ScriptedTask(id="a", tool_calls=(("look_up", {"word": "x"}),))
    endpoint.play(Scenario(tasks=(made,)))
    report = {"type": "function", "function": {"name": "Report", "parameters": {"type": "object"}}}
    bound = Models(model_settings).chat("fast").bind_tools([look_up, report], tool_choice="any")

    answer = await bound.ainvoke([HumanMessage("task: a")])

    assert answer.tool_calls[0]["name"] == "look_up"
    assert endpoint.calls(schema="Report", task="a")[0].tools == ("look_up", "Report")


def test_one_process_may_use_one_loop_after_another(model_settings: ModelSettings) -> None:
    models = Models(model_settings)

    async def once() -> str:
        async with Endpoint(Scenario(), port=0) as other:
            alike = Models(replace(model_settings, base_url=other.base_url))
            return str((await alike.chat("fast").ainvoke("hello")).text)

    assert models.name("fast")
    assert asyncio.run(once()) == asyncio.run(once())


def test_the_usage_of_a_message_without_any_is_nothing() -> None:
    assert usage_of(AIMessage("x")).input_tokens == 0
