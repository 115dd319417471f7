"""The team expert_router as it ships, mostly with the embedded model."""

import pytest

from graph import arun
from graph.runs.outcome import Outcome
from graph.teams.team_loader import load_team
from nodes.planning.first_plan import MAX_ROUTE_EXAMPLES
from tests.endpoint import ScriptedTask
from tests.runs import Runs
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "expert_router"
BREACH = (
    "How is an SQL injection attack prevented, and by when is the authority notified of a personal "
    "data breach?"
)
EXPERTS = tuple(each for each in load_team(TEAM).workers if each.name != "generalist")
NOTICES = {worker.name: worker.notice for worker in EXPERTS}


def list_workers(outcome: Outcome) -> list[str]:
    return sorted(report.worker for report in outcome.results.values())


async def test_a_question_for_two_is_answered_by_both_at_once_with_both_disclaimers():
    outcome, answer, _ = await run_team(TEAM, BREACH)

    assert outcome.status == "done" and list_workers(outcome) == ["legal", "technical"]
    assert outcome.plan is not None and outcome.plan.measure_depth() == 1
    assert "72 hours" in answer.text and "parameterized queries" in answer.text
    assert answer.text.endswith(f"{NOTICES['legal']}\n\n{NOTICES['technical']}") or (
        answer.text.endswith(f"{NOTICES['technical']}\n\n{NOTICES['legal']}")
    )
    assert len(answer.sources) == 2


async def test_a_question_that_went_to_the_wrong_expert_reaches_the_right_one():
    wanted = "What is the most paracetamol a grown-up may swallow within 24 hours?"
    team = load_team("expert_router").model_copy(update={"routes": {"paracetamol": "legal"}})

    outcome = await arun(wanted, team=team)

    assert outcome.answer is not None and outcome.status == "done"
    assert list_workers(outcome) == ["medical"]
    assert "4,000 mg" in outcome.answer.text and NOTICES["medical"] in outcome.answer.text
    assert NOTICES["legal"] not in outcome.answer.text


async def test_a_language_model_is_shown_examples_of_routes_and_gets_entries_to_quote(runs: Runs):
    question = "What is the wash sale rule for stock sold at a loss?"
    runs.script(
        ScriptedTask(
            id="financial",
            worker="financial",
            tool_calls=(("financial_reference", {"query": question}),),
            report={"output": "The loss is not deductible."},
        ),
        answers={
            "Decision": {"worker": "financial", "reason": "A tax on shares."},
            "Answer": {"text": "It is not deductible.", "confidence": 80},
        },
    )
    graph = runs.build_graph("expert_router")

    state = await graph.ainvoke({"request": question})

    assert state["answer"].text == f"It is not deductible.\n\n{NOTICES['financial']}"
    (routed,) = runs.select_calls(schema="Decision")
    shown = routed.body["messages"][0]["content"]
    assert '"worker": "financial"' in shown and "<example>" in shown
    assert shown.count("<example>") <= MAX_ROUTE_EXAMPLES
    result = str(runs.select_calls(schema="Report")[-1].body["messages"])
    assert "within 30 days before or after the sale" in result
