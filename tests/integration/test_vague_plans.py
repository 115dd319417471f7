"""Vague tasks: told to the planner once, then noted; they end no run."""

import json
from functools import partial
from random import Random
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graph import arun, build_supervisor
from graph.runs.runner import aresume
from graph.runs.trace import load_trace
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.planning.vagueness import explain_vagueness
from tests.benchmarks.vagueness.measure import read_descriptions
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.handoffs import list_handoffs
from tests.integration import graph_runs
from tests.integration.graph_runs import select_events
from tests.plan_payloads import TEAM, PlanJson, make_bad_plan, make_good_plan
from tests.teams import make_team

pytestmark = pytest.mark.slow

REQUEST: Any = {"request": "Report on the companies."}
run_scenario = partial(graph_runs.run_scenario, request=REQUEST)
THREAD: Any = {"configurable": {"thread_id": "one"}}
VAGUE = [d.text for d in read_descriptions("development") if explain_vagueness(d.text)]
SIZE = 30
CHUNKS = [VAGUE[first : first + SIZE] for first in range(0, len(VAGUE), SIZE)]
WORDS = "Look into it"


def make_plan_payload(*words: str, worker: str = "researcher", **first: Any) -> PlanJson:
    tasks: list[PlanJson] = [
        {"id": f"T{n}", "description": text, "worker": worker} for n, text in enumerate(words, 1)
    ]
    tasks[0] |= first
    return {"goal": "Report on the companies.", "tasks": tasks}


SOUND = make_plan_payload("List the patents Siemens filed in 2020")


@pytest.mark.parametrize("words", CHUNKS, ids=range(len(CHUNKS)))
async def test_a_planner_that_repeats_its_vague_plan_has_it_run(
    endpoint: Endpoint, settings: Settings, words: list[str]
) -> None:
    scenario = Scenario(answers={"Plan": make_plan_payload(*words)})

    state, events = await run_scenario(endpoint, settings, scenario, make_team())

    assert state["status"] == "done" and len(state["results"]) == len(words)
    assert sorted(task["description"] for task in list_handoffs(endpoint.requests)) == sorted(words)
    assert len(endpoint.select_calls(schema="Plan")) == 2
    (created,), (refused,) = (
        select_events(events, "plan_created"),
        select_events(events, "plan_rejected"),
    )
    assert created["notes"] == refused["problems"]
    assert all("is vague" in note for note in created["notes"]) and created["notes"]


async def test_a_vague_plan_that_is_repaired_leaves_no_note(
    endpoint: Endpoint, settings: Settings
) -> None:
    scenario = Scenario(answers={"Plan": [make_plan_payload(WORDS), SOUND]})

    state, events = await run_scenario(endpoint, settings, scenario, make_team())

    assert state["status"] == "done" and select_events(events, "plan_created")[0]["notes"] == []
    assert "'T1' is vague" in str(endpoint.select_calls(schema="Plan")[1].body["messages"][-1])


CYCLE = make_plan_payload(WORDS, "List the patents Siemens filed in 2020", depends_on=["T1"])
UNKNOWN = make_plan_payload(WORDS, worker="cook")


@pytest.mark.parametrize(
    ("plans", "repairs", "asked"),
    [
        ([make_plan_payload(WORDS)], 0, 1),
        ([make_plan_payload(WORDS), CYCLE], 2, 3),
        ([make_plan_payload(WORDS), UNKNOWN, SOUND | {"tasks": []}], 2, 3),
        ([UNKNOWN, make_plan_payload(WORDS)], 2, 2),
        ([make_plan_payload("Handle the rest", worker="cook"), make_plan_payload(WORDS)], 1, 2),
        ([SOUND | {"tasks": []}, make_plan_payload(WORDS)], 2, 3),
        ([SOUND | {"tasks": []}, make_plan_payload(WORDS)], 1, 2),
    ],
    ids=["no repairs", "a cycle", "no plan", "also a cook", "other words", "told late", "too late"],
)
async def test_the_vague_plan_runs_where_no_better_one_comes(
    endpoint: Endpoint, settings: Settings, plans: list[Any], repairs: int, asked: int
) -> None:
    scenario = Scenario(answers={"Plan": plans})

    state, events = await run_scenario(
        endpoint, settings, scenario, make_team(max_plan_repairs=repairs)
    )

    assert state["status"] == "done"
    assert [task["description"] for task in list_handoffs(endpoint.requests)] == [WORDS]
    assert len(endpoint.select_calls(schema="Plan")) == asked
    assert len(select_events(events, "plan_created")[0]["notes"]) == 1


async def test_a_repair_that_cannot_be_asked_for_does_not_end_the_run(
    endpoint: Endpoint, settings: Settings
) -> None:
    refused = Fault(kind="unauthorized", schema="Plan", nth=(2, 3))
    scenario = Scenario(answers={"Plan": make_plan_payload(WORDS)}, faults=(refused,))

    state, events = await run_scenario(endpoint, settings, scenario, make_team())

    assert state["status"] == "done" and list(state["results"]) == ["T1"]
    assert "the plan is not repaired" in select_events(events, "error")[-1]["message"]
    assert state["usage"].by_mechanism["plan"] == 1


@pytest.mark.parametrize("fault", ["cycle", "unknown_worker", "unknown_material", "repeated_task"])
async def test_a_plan_with_another_fault_beside_it_never_runs(
    endpoint: Endpoint, settings: Settings, fault: Any
) -> None:
    bad = make_bad_plan(Random(1), "vague_task", fault, max_tasks=3).plan
    scenario = Scenario(answers={"Plan": bad})

    state, events = await run_scenario(
        endpoint, settings, scenario, TEAM.model_copy(update={"max_tasks": 30})
    )

    assert len(select_events(events, "plan_by_rule")) == 1 and state["plan"].is_by_rule
    planned = {task["description"] for task in bad["tasks"]}
    assert not planned & {task["description"] for task in list_handoffs(endpoint.requests)}


async def test_a_task_that_is_planned_again_may_stay_vague(
    endpoint: Endpoint, settings: Settings
) -> None:
    large = make_plan_payload("List the patents Siemens filed in 2020", is_compound=True)
    scenario = Scenario(answers={"Plan": [large, make_plan_payload(WORDS, "Handle the rest")]})

    state, events = await run_scenario(
        endpoint, settings, scenario, make_team(strategy="recursive")
    )

    outer, inner = select_events(events, "plan_created")
    assert state["status"] == "done" and outer["notes"] == []
    assert inner["within"] == "T1" and len(inner["notes"]) == 2
    assert len(endpoint.select_calls(schema="Plan")) == 3


async def test_a_revision_may_be_vague_and_nobody_is_asked_to_reword_what_is_finished(
    endpoint: Endpoint, settings: Settings
) -> None:
    upset = ScriptedTask(id="T1", report={"output": "x", "found_as_expected": False})
    first, second = make_plan_payload(WORDS, "Handle the rest"), make_plan_payload(WORDS)
    first["tasks"][1]["depends_on"] = ["T1"]
    second["tasks"] += make_plan_payload("Improve the results", id="N1")["tasks"]
    answers = {"Plan": [first, first, second], "PlanReview": {"makes_sense": False}}
    scenario = Scenario(tasks=(upset,), answers=answers)

    state, events = await run_scenario(endpoint, settings, scenario, make_team(max_revisions=1))

    (revised,) = select_events(events, "plan_revised")
    assert state["status"] == "done" and sorted(state["results"]) == ["N1", "T1"]
    assert [note.split("'")[1] for note in revised["notes"]] == ["T1", "N1"]
    asked = [str(event["problems"]) for event in select_events(events, "plan_rejected")]
    assert "'N1'" in asked[1] and "'T1'" not in asked[1]
    assert len(endpoint.select_calls(schema="Plan")) == 4


async def test_a_human_may_edit_a_plan_into_a_vague_one_with_a_note(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(answers={"Plan": SOUND}))
    options: Any = {"settings": settings, "thread": "one"}
    asking = make_team(approve_plan=True)
    await arun(REQUEST["request"], team=asking, **options)

    again = await aresume(
        "one", settings=settings, answer=json.dumps(make_plan_payload(WORDS, worker="cook"))
    )
    outcome = await aresume("one", settings=settings, answer=json.dumps(make_plan_payload(WORDS)))

    assert again.status == "needs_input" and outcome.status == "done"
    (approved,) = select_events(load_trace("one", settings)["events"], "plan_approved")
    assert approved["edited"] and len(approved["notes"]) == 1
    assert [task["description"] for task in list_handoffs(endpoint.requests)] == [WORDS]


@pytest.fixture
def graph(settings: Settings) -> SupervisorGraph:
    return build_supervisor(
        make_team(approve_plan=True), settings=settings, checkpointer=InMemorySaver()
    )


async def test_an_edit_of_the_state_may_be_vague(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    endpoint.load_scenario(Scenario(answers={"Plan": SOUND}))
    await graph.ainvoke(REQUEST, THREAD)

    await graph.aupdate_state(
        THREAD, {"plan": make_plan_payload(WORDS), "todo": ["T1"]}, as_node="supervisor"
    )
    state = await graph.ainvoke(Command(resume="accept"), THREAD)

    assert state["status"] == "done"
    assert [task["description"] for task in list_handoffs(endpoint.requests)] == [WORDS]


async def test_routes_and_steps_are_not_noted(endpoint: Endpoint, settings: Settings) -> None:
    made = make_team(strategy="route", routes={"report": "analyst"})

    state, events = await run_scenario(endpoint, settings, Scenario(), made)

    assert state["status"] == "done"
    assert [event["notes"] for event in select_events(events, "plan_created")] == [[]]


def test_no_task_of_a_good_plan_is_vague() -> None:
    assert len(VAGUE) > 150 and not any(
        explain_vagueness(t["description"]) for t in make_good_plan(Random(1))["tasks"]
    )


async def test_tasks_that_read_a_result_are_not_sent_back(
    endpoint: Endpoint, settings: Settings
) -> None:
    plan = make_plan_payload("List the patents Siemens filed in 2020", WORDS, "Handle the rest")
    plan["tasks"][1]["depends_on"], plan["tasks"][2]["depends_on"] = ["T1"], ["T2"]

    state, events = await run_scenario(
        endpoint, settings, Scenario(answers={"Plan": plan}), make_team()
    )

    assert state["status"] == "done" and len(endpoint.select_calls(schema="Plan")) == 1
    assert select_events(events, "plan_created")[0]["notes"] == []
