"""Bad plans that a person edits, or a revision brings: refused, and what was agreed on runs."""

import json
import re
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graph import arun, build_supervisor
from graph.runs.run_store import build_strict_serializer
from graph.runs.trace import load_trace
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import PlanInvalid
from nodes.human.request import MAX_UNUSABLE_REPLIES
from nodes.schemas.team import Team
from state import Plan, RequestInput
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.handoffs import list_handoffs, list_planned_tasks
from tests.malformed_plan_payloads import MalformedPlan, list_malformed_plans
from tests.plan_payloads import (
    FAULT_WORDS,
    FAULTS,
    MATERIALS,
    MAX_TASKS,
    TEAM,
    PlanJson,
    make_bad_plan,
    make_good_plan,
)

pytestmark = pytest.mark.slow

REQUEST: RequestInput = {
    "request": "Report on the companies.",
    "materials": {name: f"The text of {name}." for name in MATERIALS},
}
CAREFUL = TEAM.model_copy(update={"max_tasks": MAX_TASKS, "approve_plan": True})
FIRST, OTHER = make_good_plan(Random(1), max_tasks=3), make_good_plan(Random(2), max_tasks=3)
TRIES = MAX_UNUSABLE_REPLIES - 1
REFUSED = [fault for fault in FAULTS if fault != "vague_task"]
"""Alone; with vague tasks a plan may run."""


def list_bad_edits() -> Iterator[MalformedPlan]:
    """Each fault twice alone, some together, and what a person's editor may make of JSON."""
    alone = [(fault,) for fault in REFUSED for _ in range(2)]
    for seed, faults in enumerate([*alone, *list(combinations(FAULTS, 2))[::7]]):
        bad = make_bad_plan(Random(seed), *faults, max_tasks=3)
        yield MalformedPlan(
            "edit", bad.plan, tuple(FAULT_WORDS[fault] for fault in bad.list_reported_faults())
        )
    by_hand = [
        odd
        for odd in list_malformed_plans()
        if isinstance(odd.payload, dict) and is_parsable_edit(odd.payload)
    ]
    yield from by_hand[::9]
    whole = json.dumps(FIRST)
    yield MalformedPlan("text", f"{whole[:-1]},}}", ("the JSON is broken",))
    yield MalformedPlan("text", whole[:-9], ("the JSON is broken",))
    yield MalformedPlan("text", whole[:-1] + ', "tasks": []}', ("'tasks' appears twice",))
    yield MalformedPlan("text", f"```json\n{whole[:-9]}\n```", ("the JSON is broken",))


def is_parsable_edit(edit: PlanJson) -> bool:
    """Return what is refused for its contents from what could not even be an answer."""
    return not re.search(r"\\ud800|\d{19}", repr(edit))


EDITS = list(list_bad_edits())
CHUNKS = [EDITS[first : first + TRIES] for first in range(0, len(EDITS), TRIES)]


def format_reply(edit: Any, number: int) -> Any:
    """Return an edit in one of the forms a client may send it in."""
    if isinstance(edit, str):
        return edit
    form = {"plan": edit, "accept": True, "reject": None}
    return (edit, {"plan": edit}, json.dumps(edit), form)[number % 4]


def make_thread_config() -> Any:
    return {"configurable": {"thread_id": "one"}}


def build_graph(settings: Settings, team: Team) -> SupervisorGraph:
    saver = InMemorySaver(serde=build_strict_serializer())
    return build_supervisor(team, settings=settings, checkpointer=saver)


def list_unnamed_faults(bad: MalformedPlan, text: str) -> list[str]:
    return [word for word in bad.refusal_words if word not in text]


def test_there_are_at_least_forty_bad_edits() -> None:
    assert len(EDITS) >= 40


@pytest.mark.parametrize("number", range(len(CHUNKS)))
async def test_a_bad_edit_is_asked_for_again_with_its_faults_and_what_is_agreed_on_runs(
    endpoint: Endpoint, settings: Settings, number: int
) -> None:
    graph = build_graph(settings, CAREFUL)
    endpoint.load_scenario(Scenario(answers={"Plan": FIRST}))
    asked = await graph.ainvoke(REQUEST, make_thread_config())
    shown = asked["__interrupt__"][0].value["plan"]

    for at, bad in enumerate(CHUNKS[number], start=number):
        asked = await graph.ainvoke(
            Command(resume=format_reply(bad.payload, at)), make_thread_config()
        )
        question = asked["__interrupt__"][0].value
        assert not list_unnamed_faults(bad, "; ".join(question["problems"])), (
            bad,
            question["problems"],
        )
        assert question["plan"] == shown
    edited = number % 2 == 1
    state = await graph.ainvoke(Command(resume=OTHER if edited else "accept"), make_thread_config())

    assert state["status"] == "done"
    assert list_handoffs(endpoint.requests) == list_planned_tasks(OTHER if edited else FIRST)
    assert len(state["plans"]) == (2 if edited else 1)
    assert len(endpoint.select_calls(schema="Plan")) == 1


async def test_an_edit_that_is_never_good_counts_as_an_objection(
    endpoint: Endpoint, settings: Settings
) -> None:
    graph = build_graph(settings, CAREFUL)
    endpoint.load_scenario(Scenario(answers={"Plan": [FIRST, OTHER]}))
    bad = make_bad_plan(Random(0), "cycle").plan
    await graph.ainvoke(REQUEST, make_thread_config())

    for _ in range(MAX_UNUSABLE_REPLIES):
        await graph.ainvoke(Command(resume=bad), make_thread_config())
    state = await graph.ainvoke(Command(resume="accept"), make_thread_config())

    assert "cycle" in str(endpoint.select_calls(schema="Plan")[1].body["messages"][-1])
    assert list_handoffs(endpoint.requests) == list_planned_tasks(OTHER)
    assert state["status"] == "done"


def list_bad_revisions() -> list[MalformedPlan]:
    made = []
    # A model's dependency on nothing is left out.
    for seed, fault in enumerate(each for each in REFUSED if each != "unknown_dependency"):
        bad = make_bad_plan(Random(seed), fault, max_tasks=3)
        made.append(MalformedPlan(fault, bad.plan, (FAULT_WORDS[fault],)))
    return [*made, *list(list_malformed_plans())[::15]]


REVISIONS = list_bad_revisions()
ROWS = [REVISIONS[first : first + 5] for first in range(0, len(REVISIONS), 5)]
PATIENT = {"max_plan_repairs": 5}


def build_answers(bad: list[MalformedPlan], *then: PlanJson) -> list[Any]:
    return [FIRST, *(each.payload for each in bad for _ in range(each.tries)), *then]


def list_repair_messages(
    bad: list[MalformedPlan], endpoint: Endpoint
) -> Iterator[tuple[MalformedPlan, str]]:
    """Return each bad plan with what the planner was told of it."""
    number = 1
    for each in bad:
        number += each.tries
        yield each, endpoint.select_calls(schema="Plan")[number].body["messages"][-1]["content"]


@pytest.mark.parametrize("bad", ROWS, ids=range(len(ROWS)))
async def test_bad_plans_after_an_objection_are_sent_back_and_the_good_one_is_shown(
    endpoint: Endpoint, settings: Settings, bad: list[MalformedPlan]
) -> None:
    graph = build_graph(settings, CAREFUL.model_copy(update=PATIENT))
    endpoint.load_scenario(Scenario(answers={"Plan": build_answers(bad, OTHER)}))
    await graph.ainvoke(REQUEST, make_thread_config())

    asked = await graph.ainvoke(Command(resume="reject: other companies"), make_thread_config())
    state = await graph.ainvoke(Command(resume="accept"), make_thread_config())

    for each, result in list_repair_messages(bad, endpoint):
        assert not list_unnamed_faults(each, result), (each, result)
    shown = asked["__interrupt__"][0].value["plan"]
    assert Plan.model_validate(shown) == Plan.model_validate({**OTHER, "version": 2})
    assert list_handoffs(endpoint.requests) == list_planned_tasks(OTHER)
    assert state["status"] == "done"


async def test_an_objection_that_brings_only_bad_plans_ends_with_their_reason(
    endpoint: Endpoint, settings: Settings
) -> None:
    graph = build_graph(settings, CAREFUL)
    bad = make_bad_plan(Random(5), "vague_task", "unknown_material").plan
    endpoint.load_scenario(Scenario(answers={"Plan": [FIRST, bad]}))
    await graph.ainvoke(REQUEST, make_thread_config())

    with pytest.raises(PlanInvalid, match=r"unknown material[^|]*vague"):
        await graph.ainvoke(Command(resume="reject: other companies"), make_thread_config())

    assert {call.schema for call in endpoint.requests} == {"Plan"}


SENSELESS = {"PlanReview": {"makes_sense": False, "reason": "No dividend."}}
UPSET = ScriptedTask(id="T1", report={"output": "Bosch is private.", "found_as_expected": False})


@pytest.mark.parametrize("bad", ROWS, ids=range(len(ROWS)))
async def test_bad_plans_after_a_finding_are_sent_back_and_the_good_one_runs(
    endpoint: Endpoint, settings: Settings, bad: list[MalformedPlan]
) -> None:
    first = make_chain("T1", "T2")
    good = {**OTHER, "tasks": [first["tasks"][0], *rename_tasks(OTHER)]}
    plans = [first, *build_answers(bad, good)[1:]]
    endpoint.load_scenario(Scenario(tasks=(UPSET,), answers={"Plan": plans, **SENSELESS}))
    graph = build_graph(settings, TEAM.model_copy(update={"max_tasks": MAX_TASKS, **PATIENT}))

    state = await graph.ainvoke(REQUEST, make_thread_config())

    for each, result in list_repair_messages(bad, endpoint):
        assert not list_unnamed_faults(each, result), (each, result)
    assert list_handoffs(endpoint.requests) == list_planned_tasks(good)
    assert state["status"] == "done"


@pytest.mark.parametrize("bad", REVISIONS[:: len(ROWS)], ids=lambda bad: bad.kind)
async def test_a_finding_that_brings_only_bad_plans_leaves_the_plan_as_it_is(
    endpoint: Endpoint, settings: Settings, bad: MalformedPlan
) -> None:
    first = make_chain("T1", "T2", "T3")
    answers = {"Plan": [first, bad.payload], **SENSELESS}
    endpoint.load_scenario(Scenario(tasks=(UPSET,), answers=answers))
    team = TEAM.model_copy(update={"max_tasks": MAX_TASKS})

    outcome = await arun(
        REQUEST["request"],
        materials=REQUEST["materials"],
        team=team,
        settings=settings,
        thread="one",
    )

    (error,) = [e for e in load_trace("one", settings)["events"] if e["kind"] == "error"]
    assert not list_unnamed_faults(bad, error["message"]), error["message"]
    assert list_handoffs(endpoint.requests) == list_planned_tasks(first)
    assert outcome.plan == Plan.model_validate(first)
    assert outcome.status == "done"


async def test_a_revision_cannot_change_what_is_finished(
    endpoint: Endpoint, settings: Settings
) -> None:
    first = make_chain("T1", "T2")
    again = make_chain("T1", "T4")
    again["tasks"][0] |= {"worker": "writer", "description": "Draft a letter to Bosch"}
    endpoint.load_scenario(Scenario(tasks=(UPSET,), answers={"Plan": [first, again], **SENSELESS}))

    state = await build_graph(settings, TEAM).ainvoke(REQUEST, make_thread_config())

    assert list_handoffs(endpoint.requests) == list_planned_tasks(
        {"tasks": [first["tasks"][0], again["tasks"][1]]}
    )
    assert state["plan"].tasks[0] == Plan.model_validate(first).tasks[0]


def make_chain(*names: str) -> PlanJson:
    """Plan tasks of which each needs the one before."""
    return {
        "goal": "Report on the companies.",
        "tasks": [
            {
                "id": name,
                "description": f"List the patents that Bosch filed under number {name}",
                "worker": "analyst",
                "depends_on": list(names[number - 1 : number]),
            }
            for number, name in enumerate(names)
        ],
    }


def rename_tasks(plan: PlanJson) -> Iterator[dict[str, Any]]:
    """Return a plan's tasks ids that no other plan has; the first of them needs T1."""
    for number, task in enumerate(plan["tasks"]):
        needs = [f"N{name}" for name in task["depends_on"]] + (["T1"] if number == 0 else [])
        yield {**task, "id": f"N{task['id']}", "depends_on": needs}
