"""Teams within teams, on the compiled graph against the endpoint."""

import json
from contextlib import aclosing
from typing import Any

import pytest
from langgraph.types import Command

from graph import build_supervisor
from graph.runs.trace import build_trace
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import TeamInvalid
from nodes.schemas.team import Team, Worker
from state import RequestInput
from tests import runs as graph_runs
from tests.endpoint import Fault, Scenario, ScriptedTask
from tests.runs import Runs
from tests.teams import make_team, write_team

pytestmark = pytest.mark.slow

REQUEST: RequestInput = {"request": "Find the prices of the parts and write the page."}
CONFIG: Any = {"configurable": {"thread_id": "nest"}}


def make_outer_team(inner: Team, **fields: Any) -> Team:
    """Make a team whose worker `research` is a team, beside a writer."""
    research = Worker(name="research", description="Finds figures.", team=inner)
    writer = Worker(name="writer", description="Writes pages.", instructions="Write.")
    return make_team(workers=(research, writer), name="desk", **fields)


def make_inner_team(**fields: Any) -> Team:
    return make_team("reader", "counter", name="research_team", guidance="You read.", **fields)


def choose_plan(**by_team: dict[str, Any]) -> Any:
    """Answer a planner by the guidance that stands in its prompt."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        prompt = json.dumps(body["messages"])
        return next(plan for guidance, plan in by_team.items() if guidance in prompt)

    return answer


def make_plan(*tasks: ScriptedTask) -> dict[str, Any]:
    return Scenario(tasks=tasks).build_plan()


OUTER = (
    ScriptedTask(id="R", worker="research"),
    ScriptedTask(id="W", worker="writer", depends_on=("R",)),
)
INNER = (
    ScriptedTask(id="A", worker="reader"),
    ScriptedTask(id="B", worker="counter"),
)
PLANS = choose_plan(read=make_plan(*INNER), Plan=make_plan(*OUTER))


def make_scenario(*scripted: ScriptedTask, **fields: Any) -> Scenario:
    return Scenario(tasks=(*scripted, *OUTER, *INNER), **{"answers": {"Plan": PLANS}, **fields})


async def run_graph(
    graph: SupervisorGraph, given: Any = REQUEST, **options: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return await graph_runs.run_graph(graph, given, CONFIG, **options)


async def test_the_trace_of_a_team_stands_inside_the_task_it_did(runs: Runs):
    runs.load_scenario(make_scenario())

    _, events = await run_graph(runs.build_saved(make_outer_team(make_inner_team())))

    trace = build_trace(events)
    (outer,) = trace["plans"]
    assert [task["id"] for task in outer["tasks"]] == ["R", "W"]
    research, writer = trace["tasks"]
    assert research["team"]["name"] == "research_team" and "team" not in writer
    inner = research["team"]["tasks"]
    assert [(task["id"], task["status"]) for task in inner] == [
        ("A", "completed"),
        ("B", "completed"),
    ]
    assert trace["usage"]["model_calls"] == len(runs.select_calls())


async def test_three_levels_of_teams_answer_as_one(runs: Runs):
    middle = make_outer_team(make_inner_team(), guidance="You lead.")
    lead = Worker(name="office", description="Leads research and writing.", team=middle)
    top = make_team(workers=(lead,), guidance="You are on top.")
    first = make_plan(ScriptedTask(id="O", worker="office"))
    by_team = choose_plan(top=first, lead=make_plan(*OUTER), read=make_plan(*INNER))
    runs.load_scenario(make_scenario(answers={"Plan": by_team}))

    state, events = await run_graph(runs.build_saved(top))

    assert state["status"] == "done"
    assert "office/research/reader" in state["usage"].by_worker
    assert "O/R/A" in {event["task"] for event in events}
    sources = {claim.source for claim in state["results"]["O"].claims}
    assert sources >= {"A.md", "B.md", "W.md"}


async def test_a_team_without_any_result_fails_its_task_after_the_outer_ladder(runs: Runs):
    torn = {"status": "failed", "output": "Torn."}
    broken = [ScriptedTask(id=name, worker="reader", report=torn) for name in "AB"]
    runs.load_scenario(make_scenario(*broken))
    outer = make_outer_team(make_inner_team(max_attempts=1), max_recursion=0)

    state, _ = await run_graph(runs.build_saved(outer))

    report = state["results"]["R"]
    assert report.status == "failed" and report.attempts == 4
    assert "A, B failed: Torn." in report.error
    assert state["results"]["W"].status == "skipped"
    assert state["status"] == "failed"
    assert state["usage"].model_calls == len(runs.select_calls())


async def test_a_team_whose_workers_all_escalate_escalates_the_task(runs: Runs):
    escalation = {"reason": "out_of_scope", "message": "This is for the writer."}
    handed = [
        ScriptedTask(id=name, report={"status": "escalated", "escalation": escalation})
        for name in "AB"
    ]
    runs.load_scenario(make_scenario(*handed))

    state, events = await run_graph(runs.build_saved(make_outer_team(make_inner_team())))

    assert [e["to"] for e in events if e["kind"] == "reassigned" and e["task"] == "R"] == ["writer"]
    assert state["results"]["R"].worker == "writer" and state["status"] == "done"


async def test_a_question_inside_a_team_reaches_the_user_and_its_answer_the_task(runs: Runs):
    asking = {
        "status": "escalated",
        "escalation": {"reason": "ambiguous_input", "message": "Net or gross?"},
    }
    good = {"output": "Net: 40 euros."}
    runs.load_scenario(make_scenario(ScriptedTask(id="A", worker="reader", report=[asking, good])))
    graph = runs.build_saved(make_outer_team(make_inner_team(ladder=("human",))))

    paused, _ = await run_graph(graph)
    (asked,) = (await graph.aget_state(CONFIG)).interrupts
    before = len(runs.select_calls())
    state, _ = await run_graph(graph, Command(resume={asked.id: "Net."}))

    assert asked.value["task"] == "R/A" and asked.value["question"] == "Net or gross?"
    assert "R" not in paused.get("results", {}) and state["status"] == "done"
    again = runs.select_calls()[before:]
    assert [call.task for call in again if call.schema == "Report"] == ["A", "W"]
    assert [call.schema for call in again if call.schema == "Plan"] == []


async def test_the_plan_of_an_inner_team_can_be_approved_by_a_human(runs: Runs):
    runs.load_scenario(make_scenario())
    graph = runs.build_saved(make_outer_team(make_inner_team(approve_plan=True)))

    await run_graph(graph)
    (asked,) = (await graph.aget_state(CONFIG)).interrupts
    state, _ = await run_graph(graph, Command(resume={asked.id: "accept"}))

    assert (asked.value["kind"], asked.value["task"]) == ("plan", "R")
    assert state["status"] == "done"


async def test_an_inner_team_that_is_cut_off_goes_on_where_it_was(runs: Runs):
    hung = Fault(kind="hang", schema="Report", task="B", nth=(1,))
    runs.load_scenario(make_scenario(faults=(hung,)))
    graph = runs.build_saved(make_outer_team(make_inner_team()))

    parts: Any = graph.astream(REQUEST, CONFIG, stream_mode=["custom", "values"], subgraphs=True)
    async with aclosing(parts):
        async for _, mode, part in parts:
            if mode == "custom" and part["kind"] == "report" and part["task"] == "R/A":
                break
    before = len(runs.select_calls())
    state, _ = await run_graph(graph, None)

    assert state["status"] == "done"
    again = [call.task for call in runs.select_calls()[before:] if call.schema == "Report"]
    assert again == ["B", "W"]


async def test_an_inner_team_answers_within_the_outer_deadline(runs: Runs):
    slow = ScriptedTask(id="B", worker="counter", latency_s=60)
    runs.load_scenario(make_scenario(slow))
    graph = runs.build_saved(make_outer_team(make_inner_team()))

    state, _ = await run_graph(graph, context={"deadline_s": 4})

    assert state["status"] == "partial"
    assert state["results"]["R"].is_partial
    assert {claim.source for claim in state["results"]["R"].claims} == {"A.md"}


async def test_an_inner_team_spends_from_the_budget_of_the_outer_run(runs: Runs):
    runs.load_scenario(make_scenario())
    graph = runs.build_saved(make_outer_team(make_inner_team()))

    state, _ = await run_graph(graph, context={"max_tokens": 3500})

    spent = state["usage"].input_tokens + state["usage"].output_tokens
    assert state["status"] == "partial" and spent <= 3500
    assert state["usage"].model_calls == len(runs.select_calls())


async def test_steps_of_an_inner_team_count_against_the_step_cap_of_the_run(runs: Runs):
    runs.load_scenario(make_scenario())
    graph = runs.build_saved(make_outer_team(make_inner_team(), max_steps=3))

    state, _ = await run_graph(graph)

    assert sum(state["steps"].values()) == 3
    assert state["results"]["R"].status == "completed" and "W" not in state["results"]
    assert state["status"] == "partial"


def test_a_team_that_nests_itself_is_refused_with_the_way_it_does(
    tmp_path: Any, settings: Settings
):
    for name, other in (("a", "b"), ("b", "a")):
        write_team(tmp_path / name, lead=f"description: Leads.\nteam: {tmp_path / other}")

    with pytest.raises(TeamInvalid, match=r"lead\.md:3: a team cannot nest itself: a -> b -> a"):
        build_supervisor(str(tmp_path / "a"), settings=settings)


async def test_a_team_is_told_what_its_worker_s_file_says_and_the_results_it_depends_on(runs: Runs):
    lead = Worker(
        name="research",
        description="Finds.",
        instructions="Cite page numbers.",
        team=make_inner_team(),
    )
    writer = Worker(name="writer", description="Writes pages.", instructions="Write.")
    first = make_plan(
        ScriptedTask(id="W", worker="writer"),
        ScriptedTask(id="R", worker="research", depends_on=("W",)),
    )
    using = make_plan(ScriptedTask(id="A", worker="reader"))
    runs.load_scenario(make_scenario(answers={"Plan": choose_plan(read=using, Plan=first)}))

    state, _ = await run_graph(runs.build_saved(make_team(workers=(lead, writer))))

    inner = str(runs.select_calls(schema="Plan")[1].body)
    assert "Cite page numbers." in inner and "- W: Result of W" in inner
    assert "Part W costs 42 euros" in str(runs.select_calls(task="A")[0].body)
    assert state["status"] == "done"
