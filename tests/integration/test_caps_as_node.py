"""Caps hold where the graph is a node of another graph, and over a resume that names none."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from graph.topology.run_start import CLOCK_KEY, RunStart, read_saved_context
from nodes.errors import BudgetSpent, SettingsInvalid, SupervisorError
from nodes.limits.run_scope import get_run_scope
from state import Context, SupervisorState
from tests.endpoint import ScriptedTask, script_tasks
from tests.runs import GIVEN, THREAD, Runs, make_saver
from tests.teams import make_team

CHAIN: dict[str, tuple[str, ...]] = {f"t{n}": ((f"t{n - 1}",) if n else ()) for n in range(12)}
QUESTION = {
    "status": "escalated",
    "confidence": 0,
    "escalation": {"reason": "ambiguous_input", "message": "Which year?"},
}


def build_outer_graph(runs: Runs, schema: type = Context, **compiled: Any) -> Any:
    """Compile a graph whose only node is a team's graph."""
    outer = StateGraph(SupervisorState, context_schema=schema)
    outer.add_node("team", runs.build_graph(make_team(**compiled)))
    outer.add_edge(START, "team")
    return outer.compile(checkpointer=make_saver())


async def run_to_end(graph: Any, context: Any) -> str:
    """Run to the status, or to the code of the error that ended it."""
    try:
        state = await graph.ainvoke(GIVEN, THREAD, context=context)
    except SupervisorError as error:
        return error.code
    return "asks" if "__interrupt__" in state else str(state["status"])


@pytest.mark.parametrize(
    "context, end",
    [
        ({"approve_plan": True}, "asks"),
        ({"max_steps": 0}, "partial"),
        ({"max_tokens": 0}, BudgetSpent.code),
        ({"deadline_s": 0}, "DEADLINE_PASSED"),
        ({"max_tasks": 1}, "partial"),
    ],
)
async def test_a_cap_of_the_outer_graph_ends_the_inner_run_as_it_would_alone(
    runs: Runs, context: Any, end: str
):
    runs.script(*script_tasks({"A": (), "B": ("A",)}))
    alone = runs.build_graph(checkpointer=make_saver())

    assert await run_to_end(alone, context) == end
    assert await run_to_end(build_outer_graph(runs), context) == end
    assert await run_to_end(build_outer_graph(runs), Context(**context)) == end


async def test_an_outer_context_of_another_kind_lends_the_caps_it_shares(runs: Runs):
    @dataclass
    class Theirs:
        user: str = "ada"
        max_steps: int | None = 0

    runs.script(*script_tasks({"A": ()}))

    assert await run_to_end(build_outer_graph(runs, Theirs), Theirs()) == "partial"


async def test_a_call_from_inside_a_node_inherits_the_caps_too(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    graph = runs.build_graph()

    async def ask(state: MessagesState) -> Any:
        ended = await graph.ainvoke({"request": "Compare the parts."})
        return {"messages": [("ai", ended["status"])]}

    outer = StateGraph(MessagesState, context_schema=Context)
    outer.add_node("ask", ask)
    outer.add_edge(START, "ask")

    ended = await outer.compile().ainvoke({"messages": []}, context=Context(max_steps=0))

    assert ended["messages"][-1].text == "partial"


async def test_a_cap_that_cannot_be_is_refused_in_a_node_too(runs: Runs):
    runs.script(*script_tasks({"A": ()}))

    assert await run_to_end(build_outer_graph(runs), {"max_steps": -1}) == SettingsInvalid.code
    assert not runs.requests


async def test_a_resume_that_names_no_cap_keeps_those_of_the_run(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    graph = runs.build_graph(make_team(approve_plan=True), checkpointer=make_saver())
    await graph.ainvoke(GIVEN, THREAD, context={"max_tokens": 8_000, "max_steps": 40})

    state = await graph.ainvoke(Command(resume="accept"), THREAD)

    assert state["status"] == "partial"
    assert state["usage"].input_tokens + state["usage"].output_tokens <= 8_000


async def test_a_resume_may_raise_one_cap_and_keeps_the_others(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    graph = runs.build_graph(make_team(approve_plan=True), checkpointer=make_saver())
    await graph.ainvoke(GIVEN, THREAD, context={"max_tokens": 8_000, "max_steps": 3})

    state = await graph.ainvoke(
        Command(resume="accept"), THREAD, context={"max_tokens": 10_000_000}
    )

    done = [name for name, report in state["results"].items() if report.status == "completed"]
    assert len(done) == 3


async def test_a_resume_inside_another_graph_keeps_what_was_spent(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    graph = build_outer_graph(runs, approve_plan=True)
    await graph.ainvoke(GIVEN, THREAD, context={"max_tokens": 8_000})

    state = await graph.ainvoke(Command(resume="accept"), THREAD, context={"max_tokens": 8_000})

    assert state["status"] == "partial"
    assert state["usage"].input_tokens + state["usage"].output_tokens <= 8_000


async def test_each_call_is_charged_once_to_a_resumed_run(runs: Runs):
    asking = ScriptedTask(id="c", depends_on=("a", "b"), report=[QUESTION, {"output": "Done."}])
    waiting = ScriptedTask(id="d", depends_on=("a", "b", "c"))
    first = (ScriptedTask(id="a"), ScriptedTask(id="b"))
    runs.script(*first, asking, waiting)
    asks = make_team(ladder=("human",))
    graph = runs.build_graph(asks, checkpointer=make_saver())
    result = graph.astream(
        GIVEN,
        THREAD,
        context={"max_tokens": 1_000_000},
        stream_mode="custom",
        subgraphs=True,
    )
    calls = [event async for _, event in result if event["kind"] == "model_call"]

    snapshot = await graph.aget_state(THREAD, subgraphs=True)
    saved = read_saved_context(snapshot)
    stamped = RunStart(saved, snapshot, saved).stamp_config({})
    budget = get_run_scope(stamped).budget

    assert len(calls) == 4 and budget
    assert budget.tokens == sum(call["input_tokens"] + call["output_tokens"] for call in calls)


async def test_a_run_that_a_server_hands_over_again_goes_on_with_its_clock_and_budget(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    graph = runs.build_graph(make_team(approve_plan=True), checkpointer=make_saver())
    config: Any = {**THREAD, "metadata": {"run_id": "r1"}}
    await graph.ainvoke(GIVEN, config, context={"max_tokens": 50_000, "deadline_s": 60})
    before: Any = (await graph.aget_state(THREAD)).metadata

    start = await graph._prepare_start(GIVEN, config, None)
    scope = get_run_scope(start.stamp_config(config))

    assert start.context == Context(max_tokens=50_000, deadline_s=60)
    clock, deadline = json.loads(before[CLOCK_KEY]), scope.deadline
    assert deadline and clock["began_at"] == scope.began_at
    assert clock["deadline"] == {
        name: pytest.approx(getattr(deadline, name), abs=1e-6)
        for name in ("starts_at", "work_ends_at", "ends_at")
    }
    assert scope.budget and scope.budget.tokens > 0
