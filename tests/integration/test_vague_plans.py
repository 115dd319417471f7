"""Vague tasks: told to the planner once, then noted; they end no run."""

import json
from functools import partial
from typing import Any

import pytest

from graph import arun
from graph.runs.runner import aresume
from graph.runs.trace import load_trace
from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.handoffs import list_handoffs
from tests.integration import graph_runs
from tests.integration.graph_runs import select_events
from tests.plan_payloads import PlanJson
from tests.teams import make_team

pytestmark = pytest.mark.slow

REQUEST: Any = {"request": "Report on the companies."}
run_scenario = partial(graph_runs.run_scenario, request=REQUEST)
WORDS = "Look into it"


def make_plan_payload(*words: str, worker: str = "researcher", **first: Any) -> PlanJson:
    tasks: list[PlanJson] = [
        {"id": f"T{n}", "description": text, "worker": worker} for n, text in enumerate(words, 1)
    ]
    tasks[0] |= first
    return {"goal": "Report on the companies.", "tasks": tasks}


SOUND = make_plan_payload("List the patents Siemens filed in 2020")


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
