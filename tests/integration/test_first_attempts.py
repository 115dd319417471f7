"""A task's first attempt, which is made outside the graph of its worker."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.outputs import LLMResult
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from graph.topology.saved_work import CHANNEL, collect_held_tasks
from graph.topology.supervisor_graph import SupervisorGraph
from tests.endpoint import Endpoint, Fault, ScriptedTask, script_tasks
from tests.runs import GIVEN, THREAD, Runs, make_saver
from tests.teams import make_team

CHAIN = script_tasks({"A": (), "B": ("A",)})


def build_graph(
    runs: Runs, saver: BaseCheckpointSaver[Any] | None = None, **fields: Any
) -> SupervisorGraph:
    return runs.build_graph(make_team(**fields), checkpointer=saver)


@pytest.fixture
def saver() -> InMemorySaver:
    return make_saver()


def list_early_saves(saver: InMemorySaver) -> list[str]:
    """Return the tasks whose output was saved before LangGraph saved it."""
    found: list[str] = []
    for checkpoint in saver.list(THREAD):
        for _, channel, output in checkpoint.pending_writes or ():
            if channel == CHANNEL:
                found += output["results"]
    return sorted(found)


def count_graphs(saver: InMemorySaver) -> int:
    """Return the number of inner graphs that a run has saved."""
    return len(saver.storage["one"]) - 1


async def stop_when_begun(
    endpoint: Endpoint, graph: SupervisorGraph, began: int, **options: Any
) -> None:
    """Cancel a run when so many calls have reached the endpoint."""
    running = asyncio.ensure_future(graph.ainvoke(GIVEN, THREAD, **options))
    await endpoint.wait_for_calls(began=began)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_first_attempt_that_succeeds_enters_no_graph(runs: Runs, saver: InMemorySaver):
    runs.script(*CHAIN)

    state = await build_graph(runs, saver).ainvoke(GIVEN, THREAD)

    assert state["status"] == "done" and count_graphs(saver) == 0


async def test_an_attempt_that_needs_recovery_continues_in_the_worker_s_graph(
    runs: Runs, saver: InMemorySaver
):
    empty, good = {"status": "completed", "output": ""}, {"output": "It costs 42 euros."}
    runs.script(ScriptedTask(id="A", report=[empty, good]))

    state = await build_graph(runs, saver).ainvoke(GIVEN, THREAD)

    assert state["results"]["A"].output == good["output"] and state["results"]["A"].attempts == 2
    assert count_graphs(saver) == 1
    (refinement,) = runs.select_calls(schema="Refinement")
    _, second = runs.select_calls("Report", "A")
    assert "empty" in str(refinement.body) and "naming each figure" in str(second.body)


async def test_half_a_character_in_a_report_is_replaced(runs: Runs, saver: InMemorySaver):
    report = {"output": "It costs \ud800 42 euros."}
    first = ScriptedTask(id="A", report=report)
    runs.script(first, ScriptedTask(id="B", depends_on=("A",)))

    state = await build_graph(runs, saver).ainvoke(GIVEN, THREAD)

    assert state["status"] == "done"
    assert state["results"]["A"].output == "It costs ? 42 euros."


async def test_the_steps_of_a_first_attempt_are_streamed_to_those_who_stream_inner_graphs(
    runs: Runs,
):
    runs.script(*script_tasks({"A": ()}))
    steps: list[str] = []

    async for where, update in build_graph(runs).astream(
        GIVEN, stream_mode="updates", subgraphs=True
    ):
        steps += update if where and where[-1].startswith("researcher:") else ()

    assert steps == ["await_inputs", "act", "assess"]


@pytest.mark.parametrize("subgraphs", [False, True], ids=["plain", "streaming inner graphs"])
async def test_a_breakpoint_stops_before_a_worker_and_not_before_a_step_inside(
    runs: Runs, saver: InMemorySaver, subgraphs: bool
):
    runs.script(*CHAIN)
    graph, stopped = build_graph(runs, saver), {}

    for name in ("act", "researcher"):
        config: Any = {"configurable": {"thread_id": name}}
        async for _ in graph.astream(
            GIVEN, config, stream_mode="updates", subgraphs=subgraphs, interrupt_before=[name]
        ):
            pass
        stopped[name] = (await graph.aget_state(config)).next

    assert stopped == {"act": (), "researcher": ("researcher", "researcher", "monitor")}


async def test_k09_a_resumed_run_reads_the_saved_report_and_asks_no_model_for_it_again(
    runs: Runs, saver: InMemorySaver
):
    hung = Fault(kind="hang", schema="Report", task="B", nth=(1,))
    runs.script(*CHAIN, faults=(hung,))
    graph = build_graph(runs, saver)
    await stop_when_begun(runs.endpoint, graph, began=3)
    before = len(runs.requests)

    state = await graph.ainvoke(None, THREAD)

    again = [(call.schema, call.task) for call in runs.requests[before:]]
    assert state["status"] == "done" and again == [("Report", "B"), ("Answer", "")]
    assert set(state["results"]) == {"A", "B"} and state["usage"].model_calls == 4


async def test_a_resumed_run_does_not_wait_for_a_task_that_could_not_start(
    runs: Runs, saver: InMemorySaver
):
    failed = ScriptedTask(id="A", report={"status": "failed", "output": "", "error": "no data"})
    tasks = (failed, *script_tasks({"B": ("A",), "C": (), "D": ("B", "C"), "E": ("D",)}))
    hung = Fault(kind="hang", schema="Report", task="C", nth=(1,))
    runs.script(*tasks, faults=(hung,))
    graph = build_graph(runs, saver, ladder=())
    running = asyncio.ensure_future(graph.ainvoke(GIVEN, THREAD))
    async with asyncio.timeout(10):
        while collect_held_tasks(await graph.aget_state(THREAD)) != {"B"}:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running])

    async with asyncio.timeout(10):
        state = await graph.ainvoke(None, THREAD)

    assert state["status"] == "partial"
    assert state["results"]["C"].status == "completed"


def forget_all_but_early_saves(saver: InMemorySaver) -> None:
    """Leave of the superstep what a kill leaves right after a report was saved early."""
    for writes in saver.writes.values():
        if CHANNEL in [write[1] for write in writes.values()]:
            for key in [key for key, write in writes.items() if write[1] != CHANNEL]:
                del writes[key]


@pytest.mark.parametrize("subgraphs", [False, True], ids=["plain", "streaming inner graphs"])
async def test_k09_a_report_that_was_saved_early_is_read_however_the_run_is_resumed(
    runs: Runs, saver: InMemorySaver, subgraphs: bool
):
    hung = Fault(kind="hang", schema="Report", task="B", nth=(1,))
    runs.script(*CHAIN, faults=(hung,))
    graph = build_graph(runs, saver)
    await stop_when_begun(runs.endpoint, graph, began=3)
    forget_all_but_early_saves(saver)

    async for _ in graph.astream(None, THREAD, stream_mode="updates", subgraphs=subgraphs):
        pass

    state = (await graph.aget_state(THREAD)).values
    assert state["status"] == "done" and len(runs.select_calls("Report", "A")) == 1


async def test_a_run_that_is_saved_at_its_exit_saves_nothing_early(
    runs: Runs, saver: InMemorySaver
):
    runs.script(*CHAIN)

    state = await build_graph(runs, saver).ainvoke(GIVEN, THREAD, durability="exit")

    assert state["status"] == "done" and list_early_saves(saver) == []


async def test_a_run_that_stops_between_two_supersteps_is_resumed_there(
    runs: Runs, saver: InMemorySaver
):
    runs.script(*CHAIN)
    graph = build_graph(runs, saver)
    parts: Any = graph.astream(GIVEN, THREAD, stream_mode="updates")
    async with aclosing(parts):
        async for part in parts:
            if "researcher" in part:
                break
    before = len(runs.requests)

    state = await graph.ainvoke(None, THREAD)

    again = [call.schema for call in runs.requests[before:]]
    assert state["status"] == "done" and "Plan" not in again
    assert len(runs.select_calls("Report", "A")) == 1


class RecordedCalls(AsyncCallbackHandler):
    """Notes the metadata of each model call as a tracer receives it."""

    def __init__(self) -> None:
        self.begun: dict[UUID, Mapping[str, Any]] = {}
        self.ended: set[UUID] = set()

    async def on_chat_model_start(self, *_: Any, run_id: UUID, **said: Any) -> None:
        self.begun[run_id] = said["metadata"]

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        self.ended.add(run_id)


@pytest.mark.parametrize("chunk_delay_s", [0.0, 0.03], ids=["after the plan", "while it streams"])
async def test_a_tracer_receives_the_model_call_of_a_first_attempt(
    runs: Runs, chunk_delay_s: float
):
    runs.script(*CHAIN, chunk_delay_s=chunk_delay_s)
    recorded = RecordedCalls()

    await build_graph(runs).ainvoke(GIVEN, {"callbacks": [recorded]})

    workers = [said for said in recorded.begun.values() if said.get("worker") == "researcher"]
    assert sorted(said["task"] for said in workers) == ["A", "B"]
    assert recorded.ended == recorded.begun.keys()
    assert len(recorded.begun) == len(runs.requests) == 4
