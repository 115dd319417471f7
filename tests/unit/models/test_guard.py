"""What a guarded model tells a run, and what the run tells it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from nodes.errors import CallTimedOut
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import SCOPE_KEY, Deadline, RunScope, set_deadline
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings
from nodes.models.structured_output import ask_model
from state import Plan
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks


class Said(TypedDict, total=False):
    said: str


def build_graph(settings: ModelSettings) -> CompiledStateGraph[Said, None, Said, Said]:
    async def node(state: Said) -> Said:
        reply = await ask_model(
            ModelCatalog(settings).get_chat_model("fast"), Plan, [HumanMessage("plan it")]
        )
        return {"said": reply.value.goal}

    builder = StateGraph(Said)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile()


async def collect_events(
    settings: ModelSettings, deadline: Deadline | None = None
) -> list[dict[str, Any]]:
    stream = build_graph(settings).astream(
        {},
        {"configurable": {SCOPE_KEY: RunScope(began_at=now_s(), deadline=deadline)}},
        stream_mode="custom",
    )
    return [event async for event in stream]


async def test_each_call_in_a_run_is_one_event(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    fault = Fault(kind="server_error", nth=(1,))
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()}), faults=(fault,)))

    (event,) = await collect_events(replace(model_settings, max_tries=2))

    assert event["kind"] == "model_call"
    assert event["model"] == "openai:gpt-5-mini"
    assert event["tier"] == "fast"
    assert event["schema"] == "Plan"
    assert event["tries"] == 2
    assert event["input_tokens"] > 0
    assert event["cost_usd"] > 0
    assert event["seconds"] > 0


async def test_no_call_outlives_its_run(endpoint: Endpoint, model_settings: ModelSettings) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="hang"),)))

    with pytest.raises(CallTimedOut, match="run's deadline"):
        await collect_events(model_settings, set_deadline(now_s(), 0.1))


async def test_listeners_hear_tokens_while_the_answer_is_checked_whole(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    fault = Fault(kind="cut_stream", nth=(1,))
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()}), faults=(fault,)))
    graph = build_graph(replace(model_settings, max_tries=2))

    kinds = [event["event"] async for event in graph.astream_events({}, version="v2")]

    assert all(call.stream for call in endpoint.requests)
    assert len(endpoint.requests) == 2
    assert kinds.count("on_chat_model_stream") > 3


async def test_a_cancelled_call_hangs_up_and_frees_its_slot(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="hang", nth=(1,)),)))
    model = ModelCatalog(replace(model_settings, max_concurrency=1)).get_chat_model("fast")

    call = asyncio.create_task(model.ainvoke("hello"))
    await endpoint.wait_for_calls(1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert (await model.ainvoke("hello")).content
    assert endpoint.requests[0].client_gone


def test_one_process_may_use_one_loop_after_another(model_settings: ModelSettings) -> None:
    models = ModelCatalog(model_settings)

    async def once() -> str:
        async with Endpoint(Scenario(), port=0) as other:
            alike = ModelCatalog(replace(model_settings, base_url=other.base_url))
            return str((await alike.get_chat_model("fast").ainvoke("hello")).text)

    assert models.get_name("fast")
    assert asyncio.run(once()) == asyncio.run(once())
