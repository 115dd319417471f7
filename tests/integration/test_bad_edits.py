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
from graph.settings import Settings
from graph.store import strict_serializer
from graph.supervisor_graph import SupervisorGraph
from graph.trace import load_trace
from nodes.approval import MAX_ASKED
from nodes.errors import PlanInvalid
from state import Plan, RequestInput, Team
from tests.bad_plans import FAULTS, MATERIALS, MAX_TASKS, SAYS, TEAM, PlanJson, bad_plan, good_plan
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.handed import handed, planned
from tests.odd_plans import OddPlan, odd_plans

REQUEST: RequestInput = {
    "request": "Report on the companies.",
    "materials": {name: f"The text of {name}." for name in MATERIALS},
}
CAREFUL = TEAM.model_copy(update={"max_tasks": MAX_TASKS, "approve_plan": True})
FIRST, OTHER = good_plan(Random(1), max_tasks=3), good_plan(Random(2), max_tasks=3)
TRIES = MAX_ASKED - 1
REFUSED = [fault for fault in FAULTS if fault != "vague_task"]
"""Alone; with vague tasks a plan may run."""


def bad_edits() -> Iterator[OddPlan]:
    """Each fault twice alone, some together, and what a person's editor may make of JSON."""
    alone = [(fault,) for fault in REFUSED for _ in range(2)]
    for seed, faults in enumerate([*alone, *list(combinations(FAULTS, 2))[::7]]):
        bad = bad_plan(Random(seed), *faults, max_tasks=3)
        yield OddPlan("edit", bad.plan, tuple(SAYS[fault] for fault in bad.told()))
    by_hand = [odd for odd in odd_plans() if isinstance(odd.said, dict) and is_plain(odd.said)]
    yield from by_hand[::9]
    whole = json.dumps(FIRST)
    yield OddPlan("text", f"{whole[:-1]},}}", ("the JSON is broken",))
    yield OddPlan("text", whole[:-9], ("the JSON is broken",))
    yield OddPlan("text", whole[:-1] + ', "tasks": []}', ("'tasks' stands twice",))
    yield OddPlan("text", f"```json\n{whole[:-9]}\n```", ("the JSON is broken",))


def is_plain(edit: PlanJson) -> bool:
    """Tell what is refused for its contents from what could not even be an answer."""
    return not re.search(r"\\ud800|\d{19}", repr(edit))


EDITS = list(bad_edits())
CHUNKS = [EDITS[first : first + TRIES] for first in range(0, len(EDITS), TRIES)]


def as_reply(edit: Any, number: int) -> Any:
    """Give an edit in one of the forms a client may send it in."""
    if isinstance(edit, str):
        return edit
    form = {"plan": edit, "accept": True, "reject": None}
    return (edit, {"plan": edit}, json.dumps(edit), form)[number % 4]


def thread() -> Any:
    return {"configurable": {"thread_id": "one"}}


def build(settings: Settings, team: Team) -> SupervisorGraph:
    saver = InMemorySaver(serde=strict_serializer())
    return build_supervisor(team, settings=settings, checkpointer=saver)


def unnamed(bad: OddPlan, text: str) -> list[str]:
    return [word for word in bad.words if word not in text]


def test_there_are_forty_of_them() -> None:
    assert len(EDITS) >= 40


@pytest.mark.parametrize("number", range(len(CHUNKS)))
async def test_a_bad_edit_is_asked_for_again_with_its_faults_and_what_is_agreed_on_runs(
    endpoint: Endpoint, settings: Settings, number: int
) -> None:
    graph = build(settings, CAREFUL)
    endpoint.play(Scenario(answers={"Plan": FIRST}))
    asked = await graph.ainvoke(REQUEST, thread())
    shown = asked["__interrupt__"][0].value["plan"]

    for at, bad in enumerate(CHUNKS[number], start=number):
        asked = await graph.ainvoke(Command(resume=as_reply(bad.said, at)), thread())
        question = asked["__interrupt__"][0].value
        assert not unnamed(bad, "; ".join(question["problems"])), (bad, question["problems"])
        assert question["plan"] == shown
    edited = number % 2 == 1
    state = await graph.ainvoke(Command(resume=OTHER if edited else "accept"), thread())

    assert state["status"] == "done"
    assert handed(endpoint.requests) == planned(OTHER if edited else FIRST)
    assert len(state["plans"]) == (2 if edited else 1)
    assert len(endpoint.calls(schema="Plan")) == 1


async def test_an_edit_that_is_never_good_counts_as_an_objection(
    endpoint: Endpoint, settings: Settings
) -> None:
    graph = build(settings, CAREFUL)
    endpoint.play(Scenario(answers={"Plan": [FIRST, OTHER]}))
    bad = bad_plan(Random(0), "cycle").plan
    await graph.ainvoke(REQUEST, thread())

    for _ in range(MAX_ASKED):
        await graph.ainvoke(Command(resume=bad), thread())
    state = await graph.ainvoke(Command(resume="accept"), thread())

    assert "cycle" in str(endpoint.calls(schema="Plan")[1].body["messages"][-1])
    assert handed(endpoint.requests) == planned(OTHER)
    assert state["status"] == "done"


def bad_revisions() -> list[OddPlan]:
    made = []
    for seed, fault in enumerate(REFUSED):
        bad = bad_plan(Random(seed), fault, max_tasks=3)
        made.append(OddPlan(fault, bad.plan, (SAYS[fault],)))
    return [*made, *list(odd_plans())[::15]]


REVISIONS = bad_revisions()
ROWS = [REVISIONS[first : first + 5] for first in range(0, len(REVISIONS), 5)]
PATIENT = {"max_plan_repairs": 5}


def row_of(bad: list[OddPlan], *then: PlanJson) -> list[Any]:
    return [FIRST, *(each.said for each in bad for _ in range(each.tries)), *then]


def told_of(bad: list[OddPlan], endpoint: Endpoint) -> Iterator[tuple[OddPlan, str]]:
    """Give each bad plan with what the planner was told of it."""
    number = 1
    for each in bad:
        number += each.tries
        yield each, endpoint.calls(schema="Plan")[number].body["messages"][-1]["content"]


@pytest.mark.parametrize("bad", ROWS, ids=range(len(ROWS)))
async def test_bad_plans_after_an_objection_are_sent_back_and_the_good_one_is_shown(
    endpoint: Endpoint, settings: Settings, bad: list[OddPlan]
) -> None:
    graph = build(settings, CAREFUL.model_copy(update=PATIENT))
    endpoint.play(Scenario(answers={"Plan": row_of(bad, OTHER)}))
    await graph.ainvoke(REQUEST, thread())

    asked = await graph.ainvoke(Command(resume="reject: other companies"), thread())
    state = await graph.ainvoke(Command(resume="accept"), thread())

    for each, told in told_of(bad, endpoint):
        assert not unnamed(each, told), (each, told)
    shown = asked["__interrupt__"][0].value["plan"]
    assert Plan.model_validate(shown) == Plan.model_validate({**OTHER, "version": 2})
    assert handed(endpoint.requests) == planned(OTHER)
    assert state["status"] == "done"


async def test_an_objection_that_brings_only_bad_plans_ends_with_their_reason(
    endpoint: Endpoint, settings: Settings
) -> None:
    graph = build(settings, CAREFUL)
    bad = bad_plan(Random(5), "vague_task", "unknown_material").plan
    endpoint.play(Scenario(answers={"Plan": [FIRST, bad]}))
    await graph.ainvoke(REQUEST, thread())

    with pytest.raises(PlanInvalid, match=r"unknown material[^|]*vague"):
        await graph.ainvoke(Command(resume="reject: other companies"), thread())

    assert {call.schema for call in endpoint.requests} == {"Plan"}


UPSET = ScriptedTask(id="T1", report={"output": "Bosch is private.", "invalidates": "No dividend."})


@pytest.mark.parametrize("bad", ROWS, ids=range(len(ROWS)))
async def test_bad_plans_after_a_finding_are_sent_back_and_the_good_one_runs(
    endpoint: Endpoint, settings: Settings, bad: list[OddPlan]
) -> None:
    first = chain("T1", "T2")
    good = {**OTHER, "tasks": [first["tasks"][0], *renamed(OTHER)]}
    plans = [first, *row_of(bad, good)[1:]]
    endpoint.play(Scenario(tasks=(UPSET,), answers={"Plan": plans}))
    graph = build(settings, TEAM.model_copy(update={"max_tasks": MAX_TASKS, **PATIENT}))

    state = await graph.ainvoke(REQUEST, thread())

    for each, told in told_of(bad, endpoint):
        assert not unnamed(each, told), (each, told)
    assert handed(endpoint.requests) == planned(good)
    assert state["status"] == "done"


@pytest.mark.parametrize("bad", REVISIONS[:: len(ROWS)], ids=lambda bad: bad.kind)
async def test_a_finding_that_brings_only_bad_plans_leaves_the_plan_as_it_is(
    endpoint: Endpoint, settings: Settings, bad: OddPlan
) -> None:
    first = chain("T1", "T2", "T3")
    endpoint.play(Scenario(tasks=(UPSET,), answers={"Plan": [first, bad.said]}))
    team = TEAM.model_copy(update={"max_tasks": MAX_TASKS})

    outcome = await arun(
        REQUEST["request"],
        materials=REQUEST["materials"],
        team=team,
        settings=settings,
        thread="one",
    )

    (error,) = [e for e in load_trace("one", settings)["events"] if e["kind"] == "error"]
    assert not unnamed(bad, error["message"]), error["message"]
    assert handed(endpoint.requests) == planned(first)
    assert outcome.plan == Plan.model_validate(first)
    assert outcome.status == "done"


async def test_a_revision_cannot_change_what_is_finished(
    endpoint: Endpoint, settings: Settings
) -> None:
    first = chain("T1", "T2")
    again = chain("T1", "T4")
    again["tasks"][0] |= {"worker": "writer", "description": "Draft a letter to Bosch"}
    endpoint.play(Scenario(tasks=(UPSET,), answers={"Plan": [first, again]}))

    state = await build(settings, TEAM).ainvoke(REQUEST, thread())

    assert handed(endpoint.requests) == planned({"tasks": [first["tasks"][0], again["tasks"][1]]})
    assert state["plan"].tasks[0] == Plan.model_validate(first).tasks[0]


def chain(*names: str) -> PlanJson:
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


def renamed(plan: PlanJson) -> Iterator[dict[str, Any]]:
    """Give a plan's tasks ids that no other plan has; the first of them needs T1."""
    for number, task in enumerate(plan["tasks"]):
        needs = [f"N{name}" for name in task["depends_on"]] + (["T1"] if number == 0 else [])
        yield {**task, "id": f"N{task['id']}", "depends_on": needs}
