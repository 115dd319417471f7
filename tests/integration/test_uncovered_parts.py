"""Parts of a request that no task covers: the plan is sent back once, then they are noted."""

from typing import Any

import pytest

from graph import arun
from graph.runs.runner import aresume
from graph.settings import Settings
from state import Plan
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.teams import make_team

REQUEST = "Count the parking spaces of each shop and draft a letter to the owner."
COUNT = {
    "id": "T1",
    "description": "Count the parking spaces of each shop in shops.md.",
    "worker": "researcher",
}
LETTER = {
    "id": "T2",
    "description": "Write the letter to the owner in five sentences.",
    "worker": "writer",
    "depends_on": ["T1"],
}
LOST = "draft a letter to the owner"


def make_plan(*tasks: dict[str, Any]) -> dict[str, Any]:
    return {"goal": "Help with the shops.", "tasks": list(tasks)}


def count_plan_calls(endpoint: Endpoint) -> int:
    return sum(call.schema == "Plan" for call in endpoint.requests)


@pytest.mark.parametrize("covers", [(), ("Count the parking spaces of each shop",)])
async def test_a_plan_without_a_part_is_sent_back_once_and_the_part_is_then_unanswered(
    covers: tuple[str, ...], endpoint: Endpoint, settings: Settings
) -> None:
    lacking = make_plan({**COUNT, "covers": covers} if covers else COUNT)
    endpoint.load_scenario(Scenario(answers={"Plan": [lacking, lacking]}))

    outcome = await arun(REQUEST, team=make_team(), settings=settings)

    assert count_plan_calls(endpoint) == 2
    sent_back = str([call.body for call in endpoint.requests if call.schema == "Plan"][1])
    assert "no task covers this part of the request" in sent_back and LOST in sent_back
    assert outcome.status == "partial" and outcome.plan is not None
    assert outcome.plan.untaken == (LOST,)
    assert outcome.answer is not None and outcome.answer.unanswered == (LOST,)
    assert f"not answered: {LOST}" in outcome.answer.gaps


async def test_a_repaired_plan_and_a_complete_one_are_done(
    endpoint: Endpoint, settings: Settings
) -> None:
    whole = make_plan(COUNT, LETTER)
    endpoint.load_scenario(Scenario(answers={"Plan": [make_plan(COUNT), whole]}))
    repaired = await arun(REQUEST, team=make_team(), settings=settings)
    asked = count_plan_calls(endpoint)
    endpoint.load_scenario(Scenario(answers={"Plan": whole}))

    complete = await arun(REQUEST, team=make_team(), settings=settings)

    assert asked == 2 and repaired.status == "done"
    assert complete.status == "done" and complete.usage.model_calls == 2 + 2


async def test_the_plan_of_a_user_is_noted_but_not_sent_back(
    endpoint: Endpoint, settings: Settings
) -> None:
    given = Plan.model_validate(make_plan(COUNT))

    outcome = await arun(REQUEST, team=make_team(), settings=settings, plan=given)

    assert count_plan_calls(endpoint) == 0 and outcome.status == "partial"
    assert outcome.answer is not None and outcome.answer.unanswered == (LOST,)


async def test_an_edited_plan_that_lacks_a_part_is_noted(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(answers={"Plan": make_plan(COUNT, LETTER)}))
    approving: Any = {"approve_plan": True}
    await arun(REQUEST, team=make_team(), settings=settings, thread="one", context=approving)
    edited = Plan.model_validate(make_plan(COUNT)).model_dump_json()

    outcome = await aresume("one", answer=edited, settings=settings)

    assert outcome.status == "partial"
    assert outcome.answer is not None and outcome.answer.unanswered == (LOST,)


async def test_a_covered_part_whose_task_fails_is_unanswered_in_its_own_words(
    endpoint: Endpoint, settings: Settings
) -> None:
    quoted = make_plan(
        {**COUNT, "covers": ["Count the parking spaces of each shop"]},
        {**LETTER, "covers": [LOST]},
    )
    handed_back = {"reason": "out_of_scope", "message": "Letters are not written here."}
    escalated = {"output": "", "status": "escalated", "escalation": handed_back, "confidence": 0}
    tasks = (
        ScriptedTask(id="T1", report={"output": "Ten spaces.", "confidence": 90}),
        ScriptedTask(id="T2", worker="writer", report=escalated),
    )
    endpoint.load_scenario(Scenario(tasks=tasks, answers={"Plan": quoted}))
    team = make_team(max_attempts=1)

    outcome = await arun(REQUEST, team=team, settings=settings)

    assert outcome.status == "partial" and outcome.answer is not None
    assert outcome.answer.unanswered == (LOST,)
    assert any(LOST in gap for gap in outcome.answer.gaps)
