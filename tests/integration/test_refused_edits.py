"""Bad plans that a person edits, or a revision brings: refused, and what was agreed on runs."""

import json
import re
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

import pytest
from langgraph.types import Command

from nodes.human.request import MAX_UNUSABLE_REPLIES
from state import RequestInput
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
from tests.runs import THREAD, Runs

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
    """Each fault alone, some together, and what a person's editor may make of JSON."""
    alone = [(fault,) for fault in REFUSED]
    for seed, faults in enumerate([*alone, *list(combinations(FAULTS, 2))[::14]]):
        bad = make_bad_plan(Random(seed), *faults, max_tasks=3)
        yield MalformedPlan(
            "edit", bad.plan, tuple(FAULT_WORDS[fault] for fault in bad.list_reported_faults())
        )
    by_hand = [
        odd
        for odd in list_malformed_plans()
        if isinstance(odd.payload, dict) and is_parsable_edit(odd.payload)
    ]
    yield from by_hand[::18]
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


def list_unnamed_faults(bad: MalformedPlan, text: str) -> list[str]:
    return [word for word in bad.refusal_words if word not in text]


@pytest.mark.parametrize("number", range(len(CHUNKS)))
async def test_a_bad_edit_is_asked_for_again_with_its_faults_and_what_is_agreed_on_runs(
    runs: Runs, number: int
):
    graph = runs.build_saved(CAREFUL)
    runs.script(answers={"Plan": FIRST})
    asked = await graph.ainvoke(REQUEST, THREAD)
    shown = asked["__interrupt__"][0].value["plan"]

    for at, bad in enumerate(CHUNKS[number], start=number):
        asked = await graph.ainvoke(Command(resume=format_reply(bad.payload, at)), THREAD)
        question = asked["__interrupt__"][0].value
        assert not list_unnamed_faults(bad, "; ".join(question["problems"])), (
            bad,
            question["problems"],
        )
        assert question["plan"] == shown
    edited = number % 2 == 1
    state = await graph.ainvoke(Command(resume=OTHER if edited else "accept"), THREAD)

    assert state["status"] == "done"
    assert list_handoffs(runs.requests) == list_planned_tasks(OTHER if edited else FIRST)
    assert len(state["plans"]) == (2 if edited else 1)
    assert len(runs.select_calls(schema="Plan")) == 1


async def test_an_edit_that_is_never_good_counts_as_an_objection(runs: Runs):
    graph = runs.build_saved(CAREFUL)
    runs.script(answers={"Plan": [FIRST, OTHER]})
    bad = make_bad_plan(Random(0), "cycle").plan
    await graph.ainvoke(REQUEST, THREAD)

    for _ in range(MAX_UNUSABLE_REPLIES):
        await graph.ainvoke(Command(resume=bad), THREAD)
    state = await graph.ainvoke(Command(resume="accept"), THREAD)

    assert "cycle" in str(runs.select_calls(schema="Plan")[1].body["messages"][-1])
    assert list_handoffs(runs.requests) == list_planned_tasks(OTHER)
    assert state["status"] == "done"
