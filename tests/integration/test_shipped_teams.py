"""Shipped teams on hard requests about their samples, most with the embedded model."""

import asyncio
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graph.settings import Settings
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, load_team
from nodes.planning.first_plan import MAX_ROUTE_EXAMPLES
from teams.research_writing_code.tools.sandbox.limits import SandboxLimits
from teams.research_writing_code.tools.sandbox.runner import RunRefused, run_python
from tests.contracts import REAL_CONTRACTS, read_contracts
from tests.endpoint import ScriptedTask
from tests.runs import Runs
from tests.team_runs import run_team
from tests.unit.tools.fhir_samples import EXAMPLE as BUNDLE
from tests.unit.tools.fhir_samples import EXAMPLES

pytestmark = pytest.mark.slow

REVIEW = "Review this contract before we sign it, what are the risks and what should worry us?"
SUMMARY = "Write a clinical summary of the patient in this FHIR bundle"
SHOPS = (
    "Write a report on which of our three shops we should enlarge, from sales.csv, customers.md "
    "and leases.md"
)
CRASH = partial(run_team, "research_writing_code", "Run stock.py: why does it crash?")
STOCK = ("stock.py", "stock.csv")
NOTICES = {worker.name: worker.notice for worker in load_team("expert_router").workers}


def find_sample(team: str) -> Path:
    return SHIPPED_TEAMS_FOLDER / team / "sample"


def list_workers(run: Any) -> list[str]:
    return sorted(report.worker for report in run.outcome.results.values())


async def test_every_quotation_of_three_real_contracts_stands_in_its_contract():
    materials = read_contracts(*REAL_CONTRACTS)

    outcome, answer, _ = await run_team("contract_review", REVIEW, *REAL_CONTRACTS)

    quotes = [claim for r in outcome.results.values() for claim in r.claims if claim.quotation]
    assert outcome.status == "done" and answer.contradictions == ()
    assert len(quotes) > 90 and {claim.source for claim in quotes} == set(materials)
    assert all(claim.quotation in materials[claim.source] for claim in quotes)
    found = [finding for report in outcome.results.values() for finding in report.findings]
    assert len(answer.findings) == len(found) == 32


async def test_a_syllabus_is_written_as_a_word_document():
    request = "Write the syllabus of the course as a Word document"

    outcome, answer, _ = await run_team("curriculum", request, find_sample("curriculum"))

    assert outcome.status == "partial"
    assert any("put together" in gap and "needs a language model" in gap for gap in answer.gaps)
    assert not any("not answered" in gap for gap in answer.gaps)
    path = answer.text.partition("(path: ")[2].partition(")")[0]
    assert path.endswith(".docx") and zipfile.is_zipfile(path)


async def test_a_question_that_went_to_the_wrong_expert_reaches_the_right_one():
    team: Any = load_team("expert_router").model_copy(update={"routes": {"paracetamol": "legal"}})
    wanted = "What is the most paracetamol a grown-up may swallow within 24 hours?"

    run = await run_team(team, wanted)

    assert run.outcome.status == "done" and list_workers(run) == ["medical"]
    assert "4,000 mg" in run.answer.text and NOTICES["medical"] in run.answer.text
    assert NOTICES["legal"] not in run.answer.text


def test_three_departments_answer_with_one_report(tmp_path: Path):
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'runs.sqlite'}")

    asked = run_team("organisation", SHOPS, find_sample("organisation"), settings=settings)
    run = asyncio.run(asked)

    assert run.outcome.status == "partial"
    assert set(run.answer.sources) == {"sales.csv", "customers.md", "leases.md"}
    assert all(shop in run.answer.text for shop in ("Altona", "Barmbek", "Wandsbek"))
    assert any("“year”" in gap for gap in run.answer.gaps), "quarters were compared, and said so"
    (written,) = tmp_path.rglob("*.md")
    assert "31 December 2030" in written.read_text()
    # The runs of the three inner supervisors are in the trace.
    reports = [e for e in run.events if e["kind"] == "report" and e.get("within")]
    inner = [(e["within"], e["report"]["status"]) for e in reports if "/" in e["task"]]
    assert {status for _, status in inner} == {"completed"}
    departments = [within for within, _ in inner]
    assert sorted(map(departments.count, set(departments))) == [1, 2, 3]
    assert "plan_rejected" not in [event["kind"] for event in run.events]


async def test_a_department_without_its_material_is_named_as_the_gap():
    files = ("customers.md", "leases.md")

    run = await run_team("organisation", SHOPS, *files, folder=find_sample("organisation"))

    assert run.outcome.status == "partial"
    assert any("no file with a table" in gap for gap in run.answer.gaps)
    assert "leases.md" in run.answer.sources


async def test_records_of_two_patients_in_two_files_stay_apart():
    files = (BUNDLE, EXAMPLES / "hard_cases" / "sparse.json")

    outcome, answer, _ = await run_team("patient_summary", SUMMARY, *files)

    assert outcome.status == "done" and not answer.contradictions
    parts = answer.text.split("**Patient:** ")[1:]
    assert [part.split(",")[0] for part in parts] == ["Ines Beispiel", "Otto Probe"] * 4
    assert not any("Metformin" in part for part in parts if part.startswith("Otto"))
    assert not any("Glucose" in part for part in parts if part.startswith("Ines"))
    # The second record holds no ranges, and instructions, which are only quoted.
    assert "No reference range and no interpretation: Glucose." in "\n".join(answer.gaps)
    assert not [finding for finding in answer.findings if "Glucose" in finding.message]
    lines = [line for line in answer.text.splitlines() if "healthy" in line]
    assert lines and all(line.endswith("(Condition/note)") for line in lines)


async def test_where_it_is_allowed_the_code_is_run_and_the_error_found(
    monkeypatch: pytest.MonkeyPatch,
):
    try:
        await run_python({"a.py": ""}, "a.py", SandboxLimits())
    except RunRefused as problem:
        pytest.skip(str(problem))
    monkeypatch.setenv("SUPERVISE_RUN_CODE", "true")
    folder = find_sample("research_writing_code")

    outcome, answer, _ = await CRASH(*STOCK, folder=folder)

    source = (folder / "stock.py").read_text().splitlines()
    line = 1 + source.index("    return article.on_hand / article.sold_per_week")
    assert outcome.status == "done"
    assert f"ZeroDivisionError: float division by zero, in line {line} of stock.py" in answer.text
    assert ("stock.py", line) in {(each.file, each.line) for each in answer.findings}


async def test_what_no_page_answers_becomes_a_ticket_that_says_what_was_tried_and_asks():
    pages = ("connections.md", "installation.md", "accounts.html")
    request = "How do I set up single sign-on with Okta?"

    run = await run_team("tech_support", request, *pages, folder=find_sample("tech_support"))

    assert run.outcome.status == "partial"
    assert "reassigned" in {event["kind"] for event in run.events}
    said = "\n".join([run.answer.text, *run.answer.gaps])
    assert "handed over: documenter could not do it" in said and "say nothing on" in said
    assert "To be asked" in said and "Nothing was sent" in said


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
