"""Caps of nothing, caps that cannot be, and caps of a graph that is a node of another one."""

import json
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from graph import arun, build_supervisor
from graph.runs.plan_only import aplan
from graph.runs.runner import aresume
from graph.settings import Settings
from graph.topology.run_start import CLOCK_KEY, RunStart, read_saved_context
from nodes.errors import BudgetSpent, SettingsInvalid, SupervisorError
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import RunScope, get_run_scope
from state import Context, SupervisorState
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.runs import GIVEN, REQUEST, THREAD, Runs, make_saver
from tests.teams import make_team

AT_LEAST_ONE = ("max_tasks", "max_attempts", "max_concurrency")
AT_LEAST_NONE = ("deadline_s", "max_cost_usd", "max_tokens", "max_steps")


@pytest.fixture(autouse=True)
def scenario(endpoint: Endpoint) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": (), "B": ("A",)})))


async def run_on_thread(settings: Settings, context: Any) -> Any:
    return await arun(REQUEST, team=make_team(), settings=settings, context=context, thread="one")


async def run_graph(settings: Settings, context: Any) -> Any:
    graph = build_supervisor(make_team(), settings=settings)
    return await graph.ainvoke({"request": REQUEST}, context=context)


async def make_plan_only(settings: Settings, context: Any) -> Any:
    return await aplan(REQUEST, team=make_team(), settings=settings, context=context)


async def resume_thread(settings: Settings, context: Any) -> Any:
    return await aresume("one", settings=settings, context=context)


IMPOSSIBLE: list[tuple[str, Any]] = [
    *((name, 0) for name in AT_LEAST_ONE),
    *((name, -1) for name in AT_LEAST_ONE + AT_LEAST_NONE),
    *(("deadline_s", math.nan), ("max_cost_usd", math.inf), ("max_tasks", "many")),
]


@pytest.mark.parametrize("door", [run_on_thread, run_graph, make_plan_only, resume_thread])
async def test_an_impossible_cap_is_refused_at_every_entry_point_before_any_call(
    runs: Runs, door: Callable[[Settings, Any], Awaitable[Any]]
):
    for name, value in IMPOSSIBLE:
        for given in ({name: value}, Context(**{name: value})):
            with pytest.raises(SettingsInvalid, match=f"^{name} in the context") as refused:
                await door(runs.settings, given)

            assert refused.value.exit_code == 2
            assert refused.value.format_line().count("\n") == 0
    assert not runs.requests


@pytest.mark.parametrize(
    ("name", "code"),
    [("deadline_s", "DEADLINE_PASSED"), ("max_cost_usd", "BUDGET_SPENT")],
)
async def test_without_time_or_budget_not_even_a_plan_is_asked_for(
    runs: Runs, name: str, code: str
):
    outcome = await run_on_thread(runs.settings, {name: 0})

    assert outcome.error is not None and outcome.error.code == code
    assert (outcome.exit_code, runs.requests) == (3, [])
    assert (await runs.resume("one", context={name: 1_000_000})).status == "done"


async def test_a_cap_of_nothing_counts_for_a_run_that_is_resumed(runs: Runs):
    await run_on_thread(runs.settings, {"max_steps": 1})
    before = len(runs.select_calls(schema="Report"))

    still = await runs.resume("one", context={"max_steps": 0})
    done = await runs.resume("one", context={"max_steps": 5})

    assert (before, still.status) == (1, "partial")
    assert done.status == "done"
    assert [call.task for call in runs.select_calls(schema="Report")] == ["A", "B"]


@pytest.mark.slow
async def test_where_the_step_cap_ended_a_run_a_larger_one_is_advised(runs: Runs):
    runs.script(*script_tasks({"a": (), "b": ()}))

    outcome = await runs.run(context=Context(max_steps=0))

    assert outcome.answer is not None
    assert (outcome.status, outcome.exit_code) == ("partial", 3)
    assert [call.schema for call in runs.requests] == ["Plan"]
    assert outcome.answer.text.endswith(
        "resume the run with a larger limit (on the command line: --max-steps)."
    )
    assert all("(on the command line: --max-steps)" in gap for gap in outcome.answer.gaps)


HANGS = Fault(kind="hang", schema="Report", task="b")


@pytest.mark.slow
async def test_a_silent_model_ends_at_the_default_and_a_resume_has_a_new_one(runs: Runs):
    tasks = script_tasks({"a": (), "b": (), "c": ("b",)})
    runs.script(*tasks, faults=(HANGS,))
    limited = runs.settings.model_copy(update={"deadline_s": 5.0})

    ended = await arun(REQUEST, team=make_team(), settings=limited)
    runs.script(*tasks)
    resumed = await aresume(ended.thread, settings=limited)

    assert ended.answer is not None
    assert (ended.status, ended.exit_code) == ("partial", 3)
    assert ended.results["a"].status == "completed"
    assert "SUPERVISE_DEADLINE_S" in " ".join([*ended.answer.gaps, ended.answer.text])
    assert resumed.status == "done"
    assert len(runs.select_calls(schema="Report", task="a")) == 1


@pytest.mark.slow
async def test_a_chain_that_slow_answers_make_longer_than_the_default_is_done(runs: Runs):
    tasks = script_tasks({"a": (), "b": ("a",), "c": ("b",), "d": ("c",)})
    runs.script(*tasks, latency_s={"*": 0.8})
    limited = runs.settings.model_copy(update={"deadline_s": 3.0})

    outcome = await arun(REQUEST, team=make_team(), settings=limited)
    cut = await arun(REQUEST, team=make_team(), settings=limited, context={"deadline_s": 3.0})

    assert outcome.status == "done"
    assert cut.status == "partial"
    assert "SUPERVISE_DEADLINE_S" not in str(cut.answer)


@pytest.mark.parametrize(("setting", "limit_s"), [(0.0, None), (900.0, 900.0), (60.0, 60.0)])
def test_the_setting_changes_the_default_and_zero_switches_it_off(
    settings: Settings, setting: float, limit_s: float | None
):
    graph = build_supervisor(
        make_team(), settings=settings.model_copy(update={"deadline_s": setting})
    )

    assert graph.default_deadline_s == graph.copy().default_deadline_s == limit_s


def test_a_default_deadline_starts_again_where_another_server_takes_the_run_over():
    first = RunStart(Context(), None, Context()).stamp_config({}, default_deadline_s=900.0)
    clock = json.dumps({**json.loads(first["metadata"][CLOCK_KEY]), "began_at": now_s() - 5000})
    taken = RunStart(Context(), None, Context(), saved_clock=clock)

    scope: RunScope = get_run_scope(taken.stamp_config({}, default_deadline_s=900.0))

    assert scope.deadline is not None and scope.began_at is not None
    assert scope.deadline.ends_at > now_s() + 890
    assert scope.began_at < now_s() - 4999


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
        ({"max_tokens": 0}, BudgetSpent.code),
        ({"max_tasks": 1}, "partial"),
        ({"max_steps": -1}, SettingsInvalid.code),
    ],
)
async def test_a_cap_of_the_outer_graph_ends_the_inner_run_as_it_would_alone(
    runs: Runs, context: Any, end: str
):
    runs.script(*script_tasks({"A": (), "B": ("A",)}))
    alone = runs.build_saved()

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


async def test_a_resume_may_raise_one_cap_and_keeps_the_others(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    graph = runs.build_saved(approve_plan=True)
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
    graph = runs.build_saved(asks)
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
    graph = runs.build_saved(approve_plan=True)
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
