"""The shipped team on its example, with the embedded model: who is reached, what comes of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from graph.runs.outcome import Outcome
from nodes.errors import FileUnreadable
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "tech_support"
EXAMPLE = Path(__file__).parents[2] / "teams" / "tech_support" / "sample"
EXAM = EXAMPLE / "exam"
PAGES = [EXAMPLE / name for name in ("connections.md", "installation.md", "accounts.html")]
LOG = EXAMPLE / "worker.log"
NODE = "TypeError: x is undefined\n    at load (/srv/a.js:3:5)\n    at main (/srv/a.js:7:1)"


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


@pytest.mark.parametrize(
    ("request_text", "files", "worker", "tool"),
    [
        (
            "Find the root cause of the exception in this log",
            [LOG],
            "troubleshooter",
            "analyze_log",
        ),
        (f"What broke here?\n{NODE}", [], "troubleshooter", "analyze_log"),
        ("How do I upgrade from version 3?", PAGES, "documenter", "search_help"),
        ("I want my money back, refund the invoice", PAGES, "escalator", "draft_ticket"),
        ("Let me talk to a real person", [LOG, *PAGES], "escalator", "draft_ticket"),
    ],
)
async def test_each_specialist_is_reached_by_its_own_kind_of_request(
    request_text, files, worker, tool
):
    outcome, _, events = await run_team(TEAM, request_text, *files)

    assert outcome.status == "done" and outcome.plan is not None
    assert [task.worker for task in outcome.plan.tasks] == [worker]
    assert list_called_tools(events) == [tool]


@pytest.mark.parametrize(
    ("request_text", "files", "worker", "missing"),
    [
        (
            "The service crashes with an exception at the start, find the root cause",
            [],
            "troubleshooter",
            "no log or traceback",
        ),
        (
            "What is the root cause of the crash?",
            [EXAM / "regatta.txt"],
            "troubleshooter",
            "no log or traceback",
        ),
        ("How do I install the plugin?", [], "documenter", "no help documents"),
    ],
)
async def test_without_a_log_or_pages_a_ticket_says_what_is_missing_and_who_could_answer(
    request_text, files, worker, missing
):
    outcome, _, events = await run_team(TEAM, request_text, *files)

    assert outcome.status == "partial" and outcome.plan is not None
    assert [task.worker for task in outcome.plan.tasks] == [worker]
    assert missing in format_outcome(outcome)
    assert "only a language model or a human can" in format_outcome(outcome)
    assert "draft_ticket" in list_called_tools(events)


async def test_what_no_page_answers_becomes_a_ticket_that_says_what_was_tried_and_asks():
    outcome, _, events = await run_team(TEAM, "How do I set up single sign-on with Okta?", *PAGES)

    assert outcome.status == "partial" and outcome.answer is not None
    assert any("handed over: documenter could not do it" in gap for gap in outcome.answer.gaps)
    assert "reassigned" in {event["kind"] for event in events}
    answer = format_outcome(outcome)
    assert "say nothing on" in answer and "To be asked" in answer and "Nothing was sent" in answer


@pytest.mark.parametrize(
    "request_text",
    [
        "How do I set up a virtual environment in Python?",
        "My Python script keeps timing out when it fetches a large file",
        "I need a feature to export data to Excel",
    ],
)
async def test_a_page_on_an_error_of_a_log_answers_no_question_on_something_else(request_text):
    outcome, _, events = await run_team(TEAM, request_text, EXAMPLE)

    assert "QueuePool limit reached" not in format_outcome(outcome)
    assert "draft_ticket" in list_called_tools(events)


@pytest.mark.parametrize("action", ["search files", "find lines", "print tables faster"])
async def test_how_to_questions_reach_the_help_pages(action, tmp_path):
    page = tmp_path / "faq.md"
    page.write_text(f"# How do I {action} of the harbour?\n\nUse the `dock` command.\n")

    outcome, _, events = await run_team(TEAM, f"How do I {action} of the harbour?", page)

    assert "Use the `dock` command." in format_outcome(outcome)
    assert list_called_tools(events) == ["search_help"]


async def test_orders_in_a_log_and_its_passwords_come_to_nothing():
    outcome, _, events = await run_team(
        TEAM, "Which error in the log broke the booking?", EXAM / "hostile.log"
    )

    assert outcome.status == "done" and "draft_ticket" not in list_called_tools(events)
    assert "KeyError: 'B-17'" in format_outcome(outcome)
    assert "tern-and-gull" not in format_outcome(outcome)


async def test_a_huge_log_is_answered_and_an_empty_one_is_refused(tmp_path):
    huge, empty = tmp_path / "huge.log", tmp_path / "empty.log"
    huge.write_text("2026-01-02 10:00:00 ERROR disk 7 is full\n" * 40_000)
    empty.write_text("")

    result, _, _ = await run_team(TEAM, "Which error is in this log, and how often?", huge)
    with pytest.raises(FileUnreadable, match=r"empty\.log: no text in it"):
        await run_team(TEAM, "Which error is in this log?", empty)

    assert "40,000 errors of 1 kind" in format_outcome(result)
