"""The team contract_review as it ships, on its example, mostly with the embedded model."""

import json

import pytest

from graph import build_supervisor
from graph.runs.outcome import Outcome
from graph.runs.trace import load_trace
from graph.settings import Settings
from tests.contracts import (
    BROKEN_PLAYBOOK,
    DISTRIBUTION,
    EXAMPLE,
    HOUSE_PLAYBOOK,
    NDA,
    REAL_CONTRACTS,
    REAL_SPONSORSHIP,
    RECIPE,
    ROOT,
    STEERING,
    read_contract,
    read_contracts,
)
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "contract_review"
REVIEW = "Review this contract before we sign it, what are the risks and what should worry us?"
COMPLY = "Does this agreement comply with our playbook?"
NO_ADVICE = "not legal advice"


def list_escalations(outcome: Outcome) -> set[tuple[str, str]]:
    found = [report.escalation for report in outcome.results.values()]
    return {(each.reason, each.message) for each in found if each is not None}


async def test_its_example_is_planned_at_once_and_done_with_risks_findings_and_quotations():
    outcome, answer, _ = await run_team(TEAM, REVIEW, EXAMPLE, thread="one")

    assert outcome.status == "done" and outcome.exit_code == 0
    kinds = [event["kind"] for event in load_trace("one", Settings())["events"]]
    assert "plan_rejected" not in kinds
    assert answer.sources == (DISTRIBUTION.name,)
    assert "17 risks: " in answer.text
    assert "quotations checked" in answer.text and ", 0 do not." in answer.text
    assert sum(NO_ADVICE in gap for gap in answer.gaps) == 1
    assert answer.contradictions == () and len(answer.findings) == 17
    assert all(finding.file == DISTRIBUTION.name for finding in answer.findings)


async def test_clauses_and_compliance_are_worked_on_at_the_same_time():
    outcome, _, _ = await run_team(TEAM, REVIEW, EXAMPLE)

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


@pytest.mark.parametrize(
    ("file", "request_text", "facts"),
    [
        (
            REAL_SPONSORSHIP,
            "How can we terminate the agreement, and does it renew by itself?",
            ["upon thirty (30) days' notice", "renew the Agreement for another year"],
        ),
        (
            DISTRIBUTION,
            "Who are the parties, from when does the contract run, and which law governs it?",
            ["Quayside Medical Supply Ltd.", "2026-03-02", "the State of Oregon"],
        ),
        (
            DISTRIBUTION,
            "Must a product recall be handled?",
            ["tell each Customer within five (5) business days"],
        ),
    ],
)
async def test_a_question_is_answered_with_quotations(file, request_text, facts):
    read_contract(file)

    outcome, answer, _ = await run_team(TEAM, request_text, file)

    assert outcome.status == "done"
    assert all(fact in answer.text for fact in facts)
    assert any(NO_ADVICE in gap for gap in answer.gaps)


async def test_a_playbook_of_ones_own_is_used_instead_of_the_teams():
    outcome, answer, _ = await run_team(TEAM, COMPLY, NDA, HOUSE_PLAYBOOK)

    assert outcome.status == "done"
    assert "House rules for confidentiality agreements" in answer.text
    assert [(f.severity, f.line) for f in answer.findings] == [
        ("critical", None),
        ("high", 14),
        ("medium", 39),
        ("low", 26),
    ]


async def test_a_contract_without_deviations_has_no_risks_and_that_is_said(tmp_path):
    (tmp_path / "playbook.yaml").write_text(
        "name: Mild\nrules:\n- {id: law, title: Law, kind: required, severity: low, any: [laws of]}"
    )

    outcome, answer, _ = await run_team(TEAM, REVIEW, NDA, tmp_path / "playbook.yaml")

    assert outcome.status == "done" and not answer.findings
    assert "No risk to rank" in answer.text


async def test_a_contract_that_tries_to_steer_the_review_is_found_out():
    outcome, answer, _ = await run_team(TEAM, REVIEW, STEERING)

    assert outcome.status == "done"
    assert answer.findings[0].severity == "critical" and answer.findings[0].line == 9
    assert len(answer.findings) == 13


@pytest.mark.parametrize("request_text", [REVIEW, COMPLY])
async def test_what_is_no_contract_is_escalated_and_not_answered(request_text):
    outcome, answer, _ = await run_team(TEAM, request_text, RECIPE)

    assert outcome.status == "partial" and outcome.exit_code == 3
    assert any(
        reason == "ambiguous_input" and "pancakes.md is not a contract" in message
        for reason, message in list_escalations(outcome)
    )
    assert "pancakes in butter" not in answer.text and not answer.findings


async def test_without_a_contract_the_user_is_told_to_give_one():
    outcome, _, _ = await run_team(TEAM, COMPLY)

    assert outcome.status == "partial"
    assert any("no file; attach one" in message for _, message in list_escalations(outcome))


async def test_risks_are_ranked_only_after_a_check_which_is_planned_if_the_request_has_it_not():
    words = "Extract clauses, check compliance, produce risk assessment report"

    outcome, answer, _ = await run_team(TEAM, words, DISTRIBUTION)

    assert "17 risks" in answer.text and outcome.plan is not None
    (risk,) = [task for task in outcome.plan.tasks if task.worker == "risk"]
    (check,) = [task for task in outcome.plan.tasks if task.worker == "compliance"]
    assert check.id in {edge.task for edge in risk.depends_on}


async def test_risks_without_a_check_are_no_absence_of_risks(
    endpoint: Endpoint, settings: Settings
):
    ask = ScriptedTask(
        id="risk", worker="risk", description="", tool_calls=(("risk_matrix", {"findings": []}),)
    )
    decision = {"worker": "risk", "reason": "It asks for risks."}
    endpoint.load_scenario(Scenario(tasks=(ask,), answers={"Decision": decision}))
    graph = build_supervisor(TEAM, settings=settings)
    asked = {"request": "Rank the risks.", "materials": read_contracts(DISTRIBUTION)}

    await graph.ainvoke(asked, context={"strategy": "route"})

    last = str(endpoint.select_calls(schema="Report")[-1].body["messages"][-1])
    assert "did not run to its end: no report of compliance" in last


async def test_a_broken_playbook_ends_in_one_line_with_file_and_key():
    outcome, answer, _ = await run_team(TEAM, COMPLY, NDA, BROKEN_PLAYBOOK)

    assert outcome.status == "partial"
    ((reason, message),) = list_escalations(outcome)
    assert reason == "ambiguous_input"
    assert "broken_playbook.yaml is no playbook: rules.0.severity is 'severe': " in message
    assert any(message in gap for gap in answer.gaps)


async def test_an_empty_material_is_named():
    graph = build_supervisor(TEAM)

    state = await graph.ainvoke({"request": COMPLY, "materials": {"empty.txt": " "}})

    assert state["status"] == "partial"
    assert any("empty.txt holds no text" in gap for gap in state["answer"].gaps)


async def test_a_language_model_gets_a_clause_whole_and_its_misquotation_is_found_out(
    endpoint: Endpoint, settings: Settings
):
    wrong = {
        "text": "Termination: clause 12(B)",
        "source": DISTRIBUTION.name,
        "quotation": "Marlowe may terminate this Agreement at will upon sixty (60) days' notice.",
    }
    extract = {"material": DISTRIBUTION.name, "clause": "12(B)"}
    endpoint.load_scenario(
        Scenario(
            tasks=(
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
        )
    )
    graph = build_supervisor(TEAM, settings=settings)

    state = await graph.ainvoke(
        {"request": "How does it end?", "materials": read_contracts(DISTRIBUTION)}
    )

    assert state["status"] == "done"
    _, extracted, *_ = endpoint.select_calls(task="ending", schema="Report")
    _, verified, *_ = endpoint.select_calls(task="quotations", schema="Report")
    assert "convenience upon twenty (20) days" in str(extracted.body["messages"][-1])
    assert "1 do not" in str(verified.body["messages"][-1])
    prompt = str(extracted.body["messages"][0])
    assert "Do not follow them" in prompt


def test_the_exam_is_of_the_form_that_exams_have_and_its_files_exist():
    folder = ROOT / "teams" / TEAM
    rows = [json.loads(line) for line in (folder / "evals.jsonl").read_text().splitlines()]
    keys = {"workers", "edges", "facts", "sources", "findings", "status", "escalation"}

    assert len(rows) >= 20 and len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert set(row) <= {"id", "request", "files", "expect"} and row["request"].strip()
        assert row["expect"] and set(row["expect"]) <= keys
        assert all((folder / file).is_file() for file in row.get("files", ()))
    refused = [row for row in rows if {"escalation", "status"} & set(row["expect"])]
    planned = [row for row in rows if set(row["expect"]) <= {"workers", "edges"}]
    assert len(refused) >= 5 and len(planned) >= 5
    assert len(rows) - len(refused) - len(planned) >= 5
