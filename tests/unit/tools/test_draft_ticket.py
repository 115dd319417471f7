"""Tickets for a person: how grave, for whom, with what evidence, and what is to be asked."""

import json
from pathlib import Path

import pytest

from teams.tech_support.tools.draft_ticket import draft_ticket
from teams.tech_support.tools.support.human_decisions import find_human_decisions

EXAMPLE = Path(__file__).parents[3] / "teams" / "tech_support" / "sample"
WORKER = (EXAMPLE / "worker.log").read_text()


async def call_tool(request, materials=None, **given):
    return await draft_ticket.ainvoke({"request": request, "materials": materials or {}, **given})


@pytest.mark.parametrize(
    ("request_text", "matter", "severity", "desk"),
    [
        ("You charged us twice", "billing", "medium", "accounts"),
        ("Please cancel our subscription", "billing", "medium", "accounts"),
        ("Our admin password was published", "security", "critical", "security"),
        ("I can see the invoices of another customer", "security", "critical", "security"),
        ("A stranger is logged in as our administrator", "security", "critical", "security"),
        ("I need to speak with support today", "asks for a person", "low", "support"),
        ("All bookings of May are gone", "data loss", "critical", "operations"),
        ("I deleted the berths by accident", "data loss", "critical", "operations"),
        ("Our lawyer will write to you", "legal", "high", "legal"),
        ("Put me through to a human", "asks for a person", "low", "support"),
        ("Can somebody call me? It is urgent", "asks for a person", "high", "support"),
    ],
)
async def test_requests_for_a_human_are_ranked_and_addressed(request_text, matter, severity, desk):
    result = await call_tool(request_text)

    (finding,) = result["findings"]
    assert matter in find_human_decisions(request_text)
    assert finding["severity"] == severity and f"({desk}" in finding["message"]
    assert f"severity: {severity} (" in result["summary"]


@pytest.mark.parametrize(
    "request_text",
    [
        "How do I switch on two-factor login?",
        "Which roles may change prices?",
        "Why does the sync fail with a timeout?",
        "How do I make a backup of the data?",
        "The worker process crashed, what is the root cause?",
        "Where do I change the password?",
        "How do I make an invoice for a guest, and can guests pay by credit card?",
    ],
)
def test_ordinary_questions_do_not_need_a_human(request_text):
    assert not find_human_decisions(request_text)


def test_file_names_in_a_traceback_do_not_need_a_human():
    trace = 'File "billing/refund.py", line 3, in refund\nValueError: invoice missing\n'

    assert not find_human_decisions(f"It fails:\nTraceback (most recent call last):\n  {trace}")


async def test_evidence_stands_with_file_and_line_and_is_quoted_word_for_word():
    result = await call_tool("Please have an engineer call us", {"worker.log": WORKER})

    line = WORKER.splitlines().index(
        next(x for x in WORKER.splitlines() if x.startswith("sqlalchemy.exc.TimeoutError"))
    )
    assert (
        f"3 times, first 2026-11-20 06:03:12,442 (worker.log, line {line + 1})" in result["summary"]
    )
    assert "severity: high (a log names a critical error)" in result["summary"]
    assert result["claims"] and all(claim["quote"] in WORKER for claim in result["claims"])


async def test_what_was_tried_by_the_user_and_by_a_colleague_is_kept():
    result = await call_tool(
        "The sync is broken. We already restarted the worker.",
        earlier_attempt="documenter handed it back (out_of_scope): the pages say nothing on this",
    )

    assert 'by the user: "We already restarted the worker."' in result["summary"]
    assert "by this desk: documenter: the pages say nothing on this" in result["summary"]


async def test_only_what_is_not_known_is_asked():
    bare = await call_tool("It does not work")
    full = await call_tool(
        'Since Monday version 4.2 shows "connection refused by host" to all users when we log in'
    )

    assert bare["summary"].split("To be asked:")[1].count("- ") == 5
    assert "To be asked" not in full["summary"] and len(full["gaps"]) == 1


async def test_nothing_is_sent_and_it_says_so():
    result = await call_tool("I want a refund")

    assert result["gaps"][0].startswith("Nothing was sent")
    assert "draft, not sent" in result["summary"]


async def test_a_password_in_a_request_or_a_log_is_not_passed_on():
    log = "2026-01-01 10:00:00 ERROR db: login failed, password=gull-and-tern\n"

    result = await call_tool("We were hacked, password: hunter2222", {"a.log": log})

    assert "hunter2222" not in json.dumps(result) and "gull-and-tern" not in json.dumps(result)


@pytest.mark.parametrize("request_text", ["Compose a hymn for the choir", "Who won the marathon?"])
async def test_a_request_that_is_not_for_support_is_escalated(request_text):
    result = await call_tool(request_text)

    assert result["escalation"]["reason"] == "out_of_scope"


async def test_a_huge_request_and_many_logs_give_a_ticket_of_limited_size():
    logs = {f"w{n}.log": WORKER for n in range(30)}

    result = await call_tool("The sync failed, we tried it again. " * 2000, logs)

    assert len(json.dumps(result)) < 20_000


@pytest.mark.parametrize("text", ["invoice" + " " * 20_000, "9" * 60_000, "_" * 60_000])
async def test_a_request_that_is_made_to_be_slow_to_read_gets_its_ticket(text):
    result = await draft_ticket.ainvoke({"request": f"I want my money back, {text}"})

    assert "Ticket (draft, not sent)" in result["summary"]
