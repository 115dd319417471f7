"""A server's worker dies in mid-run, and the server runs the same run again from its input."""

import copy
import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graph.topology.answers import CHANNEL
from graph.topology.run_start import CLOCK_KEY
from graph.topology.supervisor_graph import SupervisorGraph
from tests.endpoint import ScriptedTask, script_tasks
from tests.runs import GIVEN, Runs
from tests.teams import make_team

CHAIN = {"A": (), "B": ("A",)}
DEADLINE = {"deadline_s": 60}
ASKING = {
    "status": "escalated",
    "output": "",
    "escalation": {"reason": "ambiguous_input", "message": "Which year?"},
}


def make_run_config(run: str) -> Any:
    return {"configurable": {"thread_id": "one"}, "metadata": {"run_id": run}}


async def run_until_killed(
    runs: Runs,
    given: Any,
    config: Any,
    saver: InMemorySaver,
    *,
    task: str,
    context: Any = None,
    **team: Any,
) -> InMemorySaver:
    """Run until a task's worker begins; return what the database holds if the process dies then."""
    graph = build(runs, saver, **team)
    stream = graph.astream(given, config, context=context, stream_mode="custom", subgraphs=True)
    try:
        async for _, event in stream:
            if event["kind"] == "task_started" and event["task"] == task:
                return copy_saver(saver)
    finally:
        await stream.aclose()  # type: ignore[attr-defined]  # a generator, typed as an iterator
    raise AssertionError(f"{task} never began")


def copy_saver(saver: InMemorySaver) -> InMemorySaver:
    kept = InMemorySaver()
    for name in ("storage", "writes", "blobs"):
        getattr(kept, name).update(copy.deepcopy(dict(getattr(saver, name))))
    return kept


def build(runs: Runs, saver: InMemorySaver, **team: Any) -> SupervisorGraph:
    return runs.build_graph(make_team(**team), checkpointer=saver)


def read_answer_clock(saver: InMemorySaver) -> Any:
    """Return the clock that was noted with the answer; a dispatch is not saved before its end."""
    (noted,) = (
        saver.serde.loads_typed(value)
        for writes in saver.writes.values()
        for _, channel, value, _ in writes.values()
        if channel == CHANNEL
    )
    return json.loads(noted)["clock"]


async def read_clock(graph: SupervisorGraph) -> Any:
    metadata: Any = (await graph.aget_state(make_run_config(""))).metadata
    return json.loads(metadata[CLOCK_KEY])


async def test_what_was_done_is_not_repeated_and_the_clock_has_not_stopped(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    kept = await run_until_killed(
        runs, GIVEN, make_run_config("r1"), InMemorySaver(), task="B", context=DEADLINE
    )
    graph = build(runs, kept)
    before = await read_clock(graph)

    state = await graph.ainvoke(GIVEN, make_run_config("r1"), context=DEADLINE)

    assert state["status"] == "done"
    assert await read_clock(graph) == before and before["deadline"]
    counted = [len(runs.select_calls(schema="Plan")), len(runs.select_calls(task="A"))]
    assert counted == [1, 1]


async def test_another_run_of_the_thread_has_a_deadline_of_its_own(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    kept = await run_until_killed(
        runs, GIVEN, make_run_config("r1"), InMemorySaver(), task="B", context=DEADLINE
    )
    graph = build(runs, kept)
    before = await read_clock(graph)

    await graph.ainvoke(None, make_run_config("r2"))

    assert (await read_clock(graph))["deadline"]["ends_at"] > before["deadline"]["ends_at"]


async def test_what_was_spent_counts_towards_the_budget(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    whole = await build(runs, InMemorySaver()).ainvoke(GIVEN, make_run_config("r0"))
    spent = whole["usage"].input_tokens + whole["usage"].output_tokens
    cap = {"max_tokens": spent}
    kept = await run_until_killed(
        runs, GIVEN, make_run_config("r1"), InMemorySaver(), task="B", context=cap
    )

    state = await build(runs, kept).ainvoke(GIVEN, make_run_config("r1"), context=cap)

    assert state["usage"].input_tokens + state["usage"].output_tokens <= spent
    assert state["status"] == "partial"


@pytest.mark.parametrize("is_chat", [False, True])
async def test_a_repeated_answer_is_for_no_other_question(runs: Runs, is_chat: bool):
    asking = (
        ScriptedTask(id="A", report=ASKING),
        ScriptedTask(id="B", report=ASKING, latency_s=0.3),
    )
    runs.script(*asking)
    saver, asks = InMemorySaver(), {"ladder": ("human",)}
    await build(runs, saver, **asks).ainvoke(GIVEN, make_run_config("r1"), context=DEADLINE)
    message = HumanMessage("7", id="m1")
    answer: Any = {"messages": [message]} if is_chat else Command(resume="7")
    runs.script(ScriptedTask(id="A"))
    kept = await run_until_killed(runs, answer, make_run_config("r2"), saver, task="A", **asks)
    graph = build(runs, kept, **asks)
    clock = read_answer_clock(kept)

    await graph.ainvoke(answer, make_run_config("r2"))

    (left,) = (await graph.aget_state(make_run_config("r2"))).interrupts
    assert left.value["task"] == "B"
    assert "7" in str(runs.select_calls(task="A")[-1].body)
    assert read_answer_clock(kept) == clock


async def test_another_answer_is_for_the_question_that_no_task_is_at_work_on(runs: Runs):
    later = ScriptedTask(id="B", report=ASKING, latency_s=0.3)
    runs.script(ScriptedTask(id="A", report=ASKING), later)
    saver, asks = InMemorySaver(), {"ladder": ("human",)}
    await build(runs, saver, **asks).ainvoke(GIVEN, make_run_config("r1"))
    runs.script(ScriptedTask(id="A"), ScriptedTask(id="B"))
    kept = await run_until_killed(
        runs, Command(resume="7"), make_run_config("r2"), saver, task="A", **asks
    )

    state = await build(runs, kept, **asks).ainvoke(Command(resume="8"), make_run_config("r3"))

    assert state["status"] == "done"
    assert "8" in str(runs.select_calls(task="B")[-1].body)


@pytest.mark.parametrize("is_chat", [False, True])
async def test_a_repeated_answer_is_given_once(runs: Runs, is_chat: bool):
    runs.script(*script_tasks(CHAIN))
    saver = InMemorySaver()
    context = {"approve_plan": True, **DEADLINE}
    await build(runs, saver).ainvoke(GIVEN, make_run_config("r1"), context=context)
    message = HumanMessage("approve", id="m1")
    answer: Any = {"messages": [message]} if is_chat else Command(resume="approve")
    kept = await run_until_killed(runs, answer, make_run_config("r2"), saver, task="B")
    graph = build(runs, kept)
    before = await read_clock(graph)

    state = await graph.ainvoke(answer, make_run_config("r2"))

    assert state["status"] == "done" and await read_clock(graph) == before
    counted = [len(runs.select_calls(schema="Plan")), len(runs.select_calls(task="A"))]
    assert counted == [1, 1]
