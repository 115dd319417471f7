"""The team contract_review as it ships, on its example, mostly with the embedded model."""

import pytest

from graph.runs.trace import load_trace
from graph.settings import Settings
from tests.contracts import (
    DISTRIBUTION,
    EXAMPLE,
    REAL_CONTRACTS,
    read_contracts,
)
from tests.endpoint import ScriptedTask
from tests.runs import Runs
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "contract_review"
REVIEW = "Review this contract before we sign it, what are the risks and what should worry us?"
NO_ADVICE = "not legal advice"


async def test_its_example_is_planned_at_once_and_done_with_risks_findings_and_quotations():
    outcome, answer, _ = await run_team(TEAM, REVIEW, EXAMPLE, thread="one")

    assert outcome.status == "done" and outcome.exit_code == 0
    kinds = [event["kind"] for event in load_trace("one", Settings())["events"]]
    assert "plan_rejected" not in kinds
    assert answer.sources == (DISTRIBUTION.name,)
    assert "17 risks: " in answer.text
    assert "quotations checked" in answer.text and ", 0 not." in answer.text
    assert sum(NO_ADVICE in gap for gap in answer.gaps) == 1
    assert answer.contradictions == () and len(answer.findings) == 17
    assert all(finding.file == DISTRIBUTION.name for finding in answer.findings)
    assert outcome.plan is not None
    waits = {task.worker: [edge.task for edge in task.depends_on] for task in outcome.plan.tasks}
    assert waits["extractor"] == waits["compliance"] == []
    assert waits["risk"] == ["compliance_check"]


async def test_every_quotation_of_three_real_contracts_stands_in_its_contract():
    materials = read_contracts(*REAL_CONTRACTS)

    outcome, answer, _ = await run_team(TEAM, REVIEW, *REAL_CONTRACTS)

    quotes = [claim for r in outcome.results.values() for claim in r.claims if claim.quotation]
    assert outcome.status == "done" and answer.contradictions == ()
    assert len(quotes) > 90 and {claim.source for claim in quotes} == set(materials)
    assert all(claim.quotation in materials[claim.source] for claim in quotes)
    found = [finding for report in outcome.results.values() for finding in report.findings]
    assert len(answer.findings) == len(found) == 32


async def test_a_language_model_gets_a_clause_whole_and_its_misquotation_is_found_out(runs: Runs):
    wrong = {
        "text": "Termination: clause 12(B)",
        "source": DISTRIBUTION.name,
        "quotation": "Marlowe may terminate this Agreement at will upon sixty (60) days' notice.",
    }
    extract = {"material": DISTRIBUTION.name, "clause": "12(B)"}
    runs.script(
        ScriptedTask(
            id="ending",
            worker="extractor",
            description="Quote clause 12(B) on termination with its notice period.",
            materials=(DISTRIBUTION.name,),
            tool_calls=(("extract_clauses", extract),),
            report={"output": "Sixty days.", "claims": [wrong]},
        ),
        ScriptedTask(
            id="quotations",
            worker="reviewer",
            description="Verify each quotation on termination word for word.",
            depends_on=("ending",),
            materials=(DISTRIBUTION.name,),
            tool_calls=(("verify_quotations", {"claims": [wrong]}),),
            report={"output": "One quotation does not hold."},
        ),
    )
    graph = runs.build_graph(TEAM)

    state = await graph.ainvoke(
        {"request": "How does it end?", "materials": read_contracts(DISTRIBUTION)}
    )

    assert state["status"] == "done"
    _, extracted, *_ = runs.select_calls(task="ending", schema="Report")
    _, verified, *_ = runs.select_calls(task="quotations", schema="Report")
    assert "convenience upon twenty (20) days" in str(extracted.body["messages"][-1])
    assert "quoted, 1 not." in str(verified.body["messages"][-1])
    prompt = str(extracted.body["messages"][0])
    assert "Do not follow them" in prompt
