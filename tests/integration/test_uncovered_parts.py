"""What a model invents, leaves out or keeps vague is found, sent back once, and marked."""

import json
from typing import Any

import pytest

from graph import build_supervisor
from graph.settings import Settings
from state import Plan
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.handoffs import list_handoffs
from tests.plan_payloads import PlanJson
from tests.runs import Runs, select_events
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
    runs: Runs, covers: tuple[str, ...]
):
    lacking = make_plan({**COUNT, "covers": covers} if covers else COUNT)
    runs.script(answers={"Plan": [lacking, lacking]})

    outcome = await runs.run(REQUEST)

    assert count_plan_calls(runs.endpoint) == 2
    sent_back = str([call.body for call in runs.requests if call.schema == "Plan"][1])
    assert "no task covers this part of the request" in sent_back and LOST in sent_back
    assert outcome.status == "partial" and outcome.plan is not None
    assert outcome.plan.untaken == (LOST,)
    assert outcome.answer is not None and outcome.answer.unanswered == (LOST,)
    assert f"not answered: {LOST}" in outcome.answer.gaps


async def test_a_repaired_plan_and_a_complete_one_are_done(runs: Runs):
    whole = make_plan(COUNT, LETTER)
    runs.script(answers={"Plan": [make_plan(COUNT), whole]})
    repaired = await runs.run(REQUEST)
    asked = count_plan_calls(runs.endpoint)
    runs.script(answers={"Plan": whole})

    complete = await runs.run(REQUEST)

    assert asked == 2 and repaired.status == "done"
    assert complete.status == "done" and complete.usage.model_calls == 2 + 2


async def test_the_plan_of_a_user_is_noted_but_not_sent_back(runs: Runs):
    given = Plan.model_validate(make_plan(COUNT))

    outcome = await runs.run(REQUEST, plan=given)

    assert count_plan_calls(runs.endpoint) == 0 and outcome.status == "partial"
    assert outcome.answer is not None and outcome.answer.unanswered == (LOST,)


async def test_an_edited_plan_that_lacks_a_part_is_noted(runs: Runs):
    runs.script(answers={"Plan": make_plan(COUNT, LETTER)})
    approving: Any = {"approve_plan": True}
    await runs.run(REQUEST, thread="one", context=approving)
    edited = Plan.model_validate(make_plan(COUNT)).model_dump_json()

    outcome = await runs.resume("one", answer=edited)

    assert outcome.status == "partial"
    assert outcome.answer is not None and outcome.answer.unanswered == (LOST,)


async def test_a_covered_part_whose_task_fails_is_unanswered_in_its_own_words(runs: Runs):
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
    runs.script(*tasks, answers={"Plan": quoted})
    team = make_team(max_attempts=1)

    outcome = await runs.run(REQUEST, team=team)

    assert outcome.status == "partial" and outcome.answer is not None
    assert outcome.answer.unanswered == (LOST,)
    assert any(LOST in gap for gap in outcome.answer.gaps)


MILL = (
    "# The mill\n\nWork on the mill wheel can begin in March 2027, once the eel has spawned. "
    "The state pays 59,200 EUR of the 148,000 EUR; the parish pays the rest.\n"
)
PROVED_REQUEST = "When can work on the mill wheel begin, and what does the parish pay?"
BEGINS = "Work on the mill wheel can begin in March 2027"
FALSE_CLAIMS = [
    {
        "text": "Work on the wheel can begin in March 2026.",
        "source": "mill.md",
        "quotation": BEGINS,
    },
    {
        "text": "The parish pays 59,200 EUR.",
        "source": "mill.md",
        "quotation": "the parish pays the rest",
    },
    {
        "text": "There is a reserve of 75,000 EUR.",
        "source": "mill.md",
        "quotation": "a reserve of 75,000 EUR",
    },
]
TRUE_CLAIMS = [
    {"text": f"{BEGINS}.", "source": "mill.md", "quotation": BEGINS},
    {
        "text": "The parish pays 88,800 EUR.",
        "source": "mill.md",
        "quotation": "The state pays 59,200 EUR of the 148,000 EUR; the parish pays the rest.",
    },
]


def make_report(claims: list[dict[str, str]]) -> dict[str, Any]:
    return {"output": "\n".join(claim["text"] for claim in claims), "claims": claims,
            "confidence": 95}  # fmt: skip


async def answer(
    reports: list[dict[str, Any]], text: str, sources: tuple[str, ...] = ("mill.md",)
) -> tuple[dict[str, Any], Endpoint]:
    task = ScriptedTask(
        id="mill",
        description="Find when work on the mill wheel can begin, and what the parish pays.",
        report=reports,
        materials=("mill.md",),
    )
    replies = {"Answer": {"text": text, "confidence": 95, "sources": list(sources)}}
    async with Endpoint(Scenario(tasks=(task,), answers=replies)) as endpoint:
        settings = Settings(openai_base_url=endpoint.base_url, openai_api_key="sk-test")
        graph = build_supervisor(make_team(), settings=settings)
        state = await graph.ainvoke({"request": PROVED_REQUEST, "materials": {"mill.md": MILL}})
    return state, endpoint


async def test_invented_claims_are_marked_and_named_as_gaps():
    false = make_report(FALSE_CLAIMS)
    text = (
        "Work on the wheel can begin in March 2026 and takes 14 months. The parish pays 59,200 EUR."
        " There is a reserve of 75,000 EUR."
    )

    state, endpoint = await answer([false, false], text, ("mill.md", "parish_accounts.pdf"))

    found = state["answer"]
    assert state["status"] == "partial" and found.confidence <= 50
    assert len(found.gaps) == 4 and "14 months" in found.gaps[-1] + found.gaps[0]
    assert [claim.proof for claim in state["results"]["mill"].claims] == ["unproved"] * 3
    assert found.text.count("(not supported by a source)") == 3
    assert found.sources == ("mill.md",)
    assert len(endpoint.select_calls(schema="Report")) == 2


async def test_a_report_is_sent_back_once_and_corrected():
    state, endpoint = await answer(
        [make_report(FALSE_CLAIMS), make_report(TRUE_CLAIMS)],
        "Work on the mill wheel can begin in March 2027. The parish pays 88,800 EUR.",
    )

    assert state["status"] == "done" and state["answer"].gaps == ()
    assert [claim.proof for claim in state["answer"].claims] == ["quoted", "computed"]
    asked = endpoint.select_calls(schema="Report")
    assert len(asked) == 2 and "75,000 EUR" in str(asked[1].body)


async def test_a_proved_report_costs_no_call():
    state, endpoint = await answer(
        [make_report(TRUE_CLAIMS)],
        "Work on the mill wheel can begin in March 2027. The parish pays 88,800 EUR.",
    )

    assert state["status"] == "done" and state["answer"].confidence == 95
    assert len(endpoint.select_calls()) == 3


VAGUE_REQUEST: Any = {"request": "Report on the companies."}
WORDS = "Look into it"


def make_plan_payload(*words: str, worker: str = "researcher", **first: Any) -> PlanJson:
    tasks: list[PlanJson] = [
        {"id": f"T{n}", "description": text, "worker": worker} for n, text in enumerate(words, 1)
    ]
    tasks[0] |= first
    return {"goal": "Report on the companies.", "tasks": tasks}


SOUND = make_plan_payload("List the patents Siemens filed in 2020")


@pytest.mark.slow
async def test_a_revision_may_be_vague_and_nobody_is_asked_to_reword_what_is_finished(runs: Runs):
    upset = ScriptedTask(id="T1", report={"output": "x", "found_as_expected": False})
    first, second = make_plan_payload(WORDS, "Handle the rest"), make_plan_payload(WORDS)
    first["tasks"][1]["depends_on"] = ["T1"]
    second["tasks"] += make_plan_payload("Improve the results", id="N1")["tasks"]
    answers = {"Plan": [first, first, second], "PlanReview": {"makes_sense": False}}
    scenario = Scenario(tasks=(upset,), answers=answers)

    state, events = await runs.play(scenario, make_team(max_revisions=1), request=VAGUE_REQUEST)

    (revised,) = select_events(events, "plan_revised")
    assert state["status"] == "done" and sorted(state["results"]) == ["N1", "T1"]
    assert [note.split("'")[1] for note in revised["notes"]] == ["T1", "N1"]
    asked = [str(event["problems"]) for event in select_events(events, "plan_rejected")]
    assert "'N1'" in asked[1] and "'T1'" not in asked[1]
    assert len(runs.select_calls(schema="Plan")) == 4


@pytest.mark.slow
async def test_a_human_may_edit_a_plan_into_a_vague_one_with_a_note(runs: Runs):
    runs.script(answers={"Plan": SOUND})
    await runs.run(VAGUE_REQUEST["request"], team=make_team(approve_plan=True), thread="one")

    again = await runs.resume("one", answer=json.dumps(make_plan_payload(WORDS, worker="cook")))
    outcome = await runs.resume("one", answer=json.dumps(make_plan_payload(WORDS)))

    assert again.status == "needs_input" and outcome.status == "done"
    (approved,) = select_events(runs.load_events(), "plan_approved")
    assert approved["edited"] and len(approved["notes"]) == 1
    assert [task["description"] for task in list_handoffs(runs.requests)] == [WORDS]
