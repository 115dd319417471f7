"""Vague tasks: told to the planner once, then noted; they end no run."""

import json
from typing import Any

import pytest

from tests.endpoint import Scenario, ScriptedTask
from tests.handoffs import list_handoffs
from tests.plan_payloads import PlanJson
from tests.runs import Runs, select_events
from tests.teams import make_team

pytestmark = pytest.mark.slow

REQUEST: Any = {"request": "Report on the companies."}
WORDS = "Look into it"


def make_plan_payload(*words: str, worker: str = "researcher", **first: Any) -> PlanJson:
    tasks: list[PlanJson] = [
        {"id": f"T{n}", "description": text, "worker": worker} for n, text in enumerate(words, 1)
    ]
    tasks[0] |= first
    return {"goal": "Report on the companies.", "tasks": tasks}


SOUND = make_plan_payload("List the patents Siemens filed in 2020")


async def test_a_revision_may_be_vague_and_nobody_is_asked_to_reword_what_is_finished(runs: Runs):
    upset = ScriptedTask(id="T1", report={"output": "x", "found_as_expected": False})
    first, second = make_plan_payload(WORDS, "Handle the rest"), make_plan_payload(WORDS)
    first["tasks"][1]["depends_on"] = ["T1"]
    second["tasks"] += make_plan_payload("Improve the results", id="N1")["tasks"]
    answers = {"Plan": [first, first, second], "PlanReview": {"makes_sense": False}}
    scenario = Scenario(tasks=(upset,), answers=answers)

    state, events = await runs.play(scenario, make_team(max_revisions=1), request=REQUEST)

    (revised,) = select_events(events, "plan_revised")
    assert state["status"] == "done" and sorted(state["results"]) == ["N1", "T1"]
    assert [note.split("'")[1] for note in revised["notes"]] == ["T1", "N1"]
    asked = [str(event["problems"]) for event in select_events(events, "plan_rejected")]
    assert "'N1'" in asked[1] and "'T1'" not in asked[1]
    assert len(runs.select_calls(schema="Plan")) == 4


async def test_a_human_may_edit_a_plan_into_a_vague_one_with_a_note(runs: Runs):
    runs.script(answers={"Plan": SOUND})
    await runs.run(REQUEST["request"], team=make_team(approve_plan=True), thread="one")

    again = await runs.resume("one", answer=json.dumps(make_plan_payload(WORDS, worker="cook")))
    outcome = await runs.resume("one", answer=json.dumps(make_plan_payload(WORDS)))

    assert again.status == "needs_input" and outcome.status == "done"
    (approved,) = select_events(runs.load_events(), "plan_approved")
    assert approved["edited"] and len(approved["notes"]) == 1
    assert [task["description"] for task in list_handoffs(runs.requests)] == [WORDS]
