"""Requests of the kinds that the application was built for, word for word, without a model.

Each is planned and answered by rule. The expectations were written from the words of the requests:
each part goes to a worker that it is for, or is said to be taken by nobody, and the facts that the
request asks for are in the answer or in its gaps.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from graph import arun
from graph.runs.outcome import Outcome
from graph.runs.plan_only import aplan
from state import Plan

TEAMS = Path(__file__).parents[2] / "teams"
MIN_COVERED = 11
"""Of the plans: each part is in a task of a worker that it is for, or is taken by nobody."""


@dataclass(frozen=True)
class Row:
    """One request, and what it asks for."""

    team: str
    request: str
    parts: dict[str, str]
    """Words of each part, and the workers it is for, with spaces between; empty: nobody."""
    facts: tuple[str, ...]
    """Each is in the answer or in its gaps; of those with a bar between, one is."""
    sample: str = "sample"
    is_done: bool = False
    """The tools alone do all that is asked."""


ROWS = (
    Row(
        "market_analysis",
        "Compare the market capitalization of the top 3 cloud providers. Include year-over-year "
        "growth rates and a brief analysis of competitive positioning.",
        {
            "market capitalization": "analyst",
            "growth rates": "analyst",
            "competitive positioning": "researcher",
        },
        ("2,324", "47.31", "positioning"),
    ),
    Row(
        "tech_support",
        "How do I set up a virtual environment in Python?",
        {"virtual environment": "documenter"},
        ("virtual environment", "say nothing on|Ticket (draft, not sent)"),
        is_done=True,
    ),
    Row(
        "tech_support",
        "My Python script keeps timing out when it fetches a large file",
        {"timing out": "troubleshooter documenter"},
        ("keeps timing out", "Ticket (draft, not sent)"),
        is_done=True,
    ),
    Row(
        "tech_support",
        "I need a feature to export data to Excel",
        {"export data": "escalator documenter"},
        ("export data to Excel", "Ticket (draft, not sent)"),
        is_done=True,
    ),
    Row(
        "research_writing_code",
        "Write a Python function to calculate prime numbers",
        {"prime numbers": ""},
        ("prime numbers",),
        sample="",
    ),
    Row(
        "research_writing_code",
        "Research the latest AI trends and write a blog post with code examples",
        {"AI trends": "researcher", "blog post": "", "code examples": ""},
        ("AI trends|found nothing|no document|documents", "blog post"),
        sample="",
    ),
    Row(
        "research_writing_code",
        "Help me understand why my deploy is failing",
        {"deploy": ""},
        ("deploy",),
        sample="",
    ),
    Row(
        "engineering_ops",
        "Find the bug, propose a fix, and draft a Slack note about it",
        {"the bug": "code", "a fix": "code comms", "note": "comms"},
        ("coupons.py|pricing.py", "ix", "note"),
        sample="sample/bug",
        is_done=True,
    ),
    Row(
        "code_review",
        "Review this pull request for security, performance, and style issues",
        {"security": "security", "performance": "performance", "style": "style"},
        ("4 findings", "1 finding", "5 findings"),
        is_done=True,
    ),
    Row(
        "competitive_intelligence",
        "Competitor research, feature matrix, comparison report",
        {
            "Competitor research": "researcher",
            "feature matrix": "comparer",
            "comparison report": "",
        },
        ("Single sign-on", "Free plan", "comparison report"),
    ),
    Row(
        "patient_summary",
        "Records gathered, trends analysed, clinical summary",
        {"Records": "archivist", "trends": "lab_analyst", "clinical summary": "archivist"},
        ("Ines Beispiel", "Condition"),
        is_done=True,
    ),
    Row(
        "portfolio_rebalancing",
        "Pull market data, run allocation analysis, draft recommendations",
        {
            "market data": "data_clerk",
            "allocation analysis": "allocation_analyst",
            "recommendations": "trade_planner",
        },
        ("96,060.10 EUR", "drift", "recommendations"),
    ),
    Row(
        "curriculum",
        "Research topics, structure learning objectives, generate materials",
        {
            "topics": "librarian sequencer",
            "learning objectives": "objective_reviewer",
            "generate materials": "",
        },
        ("Cells", "objective", "generate materials"),
    ),
    Row(
        "product_launch",
        "Market research, pricing analysis, launch copy generation",
        {
            "Market research": "market_researcher",
            "pricing analysis": "pricing_analyst",
            "launch copy": "",
        },
        ("29.95 EUR", "elasticity", "launch copy generation"),
    ),
    Row(
        "contract_review",
        "Extract clauses, check compliance, produce risk assessment report",
        {"clauses": "extractor", "compliance": "compliance", "risk assessment": "risk"},
        ("Marlowe", "playbook", "extreme"),
        is_done=True,
    ),
)


def list_files(row: Row) -> list[Path]:
    folder = TEAMS / row.team / row.sample
    return sorted(path for path in folder.iterdir() if path.is_file()) if row.sample else []


def list_uncovered(row: Row, plan: Plan) -> list[str]:
    """Return the parts that no worker they are for has, and that are not said to be untaken."""
    untaken = " ".join(plan.untaken)
    return [
        words
        for words, workers in row.parts.items()
        if words not in untaken
        and not any(task.worker in workers.split() and words in task.subject for task in plan.tasks)
    ]


async def plan_row(row: Row) -> Plan:
    return await aplan(row.request, team=row.team, files=list_files(row))


async def answer_row(row: Row) -> Outcome:
    return await arun(row.request, team=row.team, files=list_files(row))


async def test_plans_cover_every_part_of_most_requests() -> None:
    uncovered = {row.request: list_uncovered(row, await plan_row(row)) for row in ROWS}

    assert sum(not parts for parts in uncovered.values()) >= MIN_COVERED, uncovered


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.request[:30])
async def test_what_is_asked_is_in_the_answer_or_its_gaps(row: Row) -> None:
    outcome = await answer_row(row)

    assert outcome.answer is not None
    said = "\n".join([outcome.answer.text, *outcome.answer.gaps])
    lacking = [fact for fact in row.facts if not any(each in said for each in fact.split("|"))]
    assert not lacking
    assert row.is_done or outcome.status not in ("done", "passages")
