"""The shipped team on its example, with the embedded model: who is reached, what comes of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from graph.runs.outcome import Outcome
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "tech_support"
EXAMPLE = Path(__file__).parents[2] / "teams" / "tech_support" / "sample"
PAGES = [EXAMPLE / name for name in ("connections.md", "installation.md", "accounts.html")]


def format_outcome(outcome: Outcome) -> str:
    assert outcome.answer is not None
    return "\n".join([outcome.answer.text, *outcome.answer.gaps])


def list_called_tools(events: list[Mapping[str, Any]]) -> list[str]:
    return sorted(event["tool"] for event in events if event["kind"] == "tool_call")


async def test_the_example_is_diagnosed_and_looked_up_at_once():
    request = (
        "The calendar sync keeps failing since this morning. What is wrong, and how do we fix it "
        "according to the help pages?"
    )

    outcome, _, events = await run_team(TEAM, request, EXAMPLE)

    assert outcome.exit_code == 0 and outcome.status == "done" and outcome.plan is not None
    assert [task.worker for task in outcome.plan.tasks] == ["troubleshooter", "documenter"]
    assert list_called_tools(events) == ["analyze_log", "search_help"]
    answer = format_outcome(outcome)
    assert "QueuePool limit of size 5 overflow 10 reached" in answer
    assert (
        "`/opt/harbourlist/app/harbourlist/sync/calendars.py:11 in open_session` (line 16)"
        in answer
    )
    assert "Lower `HARBOUR_SYNC_PARALLEL` or raise `HARBOUR_POOL_OVERFLOW`" in answer
    assert outcome.answer is not None and not outcome.answer.contradictions
    assert set(outcome.answer.sources) == {"worker.log", "connections.md"}
    assert [(f.severity, f.line) for f in outcome.answer.findings] == [
        ("critical", 110),
        ("high", 39),
        ("medium", 41),
    ]


async def test_what_no_page_answers_becomes_a_ticket_that_says_what_was_tried_and_asks():
    outcome, _, events = await run_team(TEAM, "How do I set up single sign-on with Okta?", *PAGES)

    assert outcome.status == "partial" and outcome.answer is not None
    assert any("handed over: documenter could not do it" in gap for gap in outcome.answer.gaps)
    assert "reassigned" in {event["kind"] for event in events}
    answer = format_outcome(outcome)
    assert "say nothing on" in answer and "To be asked" in answer and "Nothing was sent" in answer
