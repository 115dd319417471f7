"""Tickets for a person: how grave, for whom, with what evidence, and what is to be asked."""

import json
from pathlib import Path

import pytest

from teams.tech_support.tools.draft_ticket import DESKS, DETAILS, QUESTIONS, draft_ticket

EXAMPLE = Path(__file__).parents[3] / "teams" / "tech_support" / "sample"
WORKER = (EXAMPLE / "worker.log").read_text()


async def call_tool(asked, materials=None, **given):
    return await draft_ticket.ainvoke({"asked": asked, "materials": materials or {}, **given})


@pytest.mark.parametrize("matter", DESKS)
async def test_a_ticket_is_addressed_and_asks_what_its_matter_needs(matter):
    told = await call_tool("Please look at it", matter=matter, severity="high")

    (finding,) = told["findings"]
    assert finding["severity"] == "high" and f"({DESKS[matter]})" in finding["message"]
    assert "severity: high" in told["summary"]
    asked = told["summary"].split("To be asked:")[1]
    assert all(QUESTIONS[detail] in asked for detail in DETAILS[matter])


async def test_evidence_stands_with_file_and_line_and_is_quoted_word_for_word():
    told = await call_tool("Please have an engineer call us", {"worker.log": WORKER})

    line = WORKER.splitlines().index(
        next(x for x in WORKER.splitlines() if x.startswith("sqlalchemy.exc.TimeoutError"))
    )
    assert (
        f"3 times, first 2026-11-20 06:03:12,442 (worker.log, line {line + 1})" in told["summary"]
    )
    assert told["claims"] and all(claim["quotation"] in WORKER for claim in told["claims"])


async def test_what_was_tried_by_the_user_and_by_a_colleague_is_kept():
    told = await call_tool(
        "The sync is broken.",
        tried=["restarted the worker"],
        earlier_attempt="documenter could not do it (out_of_scope): the pages say nothing on this",
    )

    assert "by the user: restarted the worker" in told["summary"]
    assert "by this desk: documenter: the pages say nothing on this" in told["summary"]


async def test_only_what_is_not_known_is_asked():
    log = "2026-01-01 10:00:00 ERROR db: gone\n"

    bare = await call_tool("It does not work")
    some = await call_tool("It does not work", {"a.log": log}, known=["version"])
    full = await call_tool("It does not work", known=list(QUESTIONS))

    assert bare["summary"].split("To be asked:")[1].count("- ") == 5
    assert some["summary"].split("To be asked:")[1].count("- ") == 2
    assert "To be asked" not in full["summary"] and len(full["gaps"]) == 1


async def test_nothing_is_sent_and_it_says_so():
    told = await call_tool("I want a refund")

    assert told["gaps"][0].startswith("Nothing was sent")
    assert "draft, not sent" in told["summary"]


async def test_a_password_in_a_request_or_a_log_is_not_passed_on():
    log = "2026-01-01 10:00:00 ERROR db: login failed, password=gull-and-tern\n"

    told = await call_tool("We were hacked, password: hunter2222", {"a.log": log})

    assert "hunter2222" not in json.dumps(told) and "gull-and-tern" not in json.dumps(told)


async def test_a_huge_request_and_many_logs_give_a_ticket_of_limited_size():
    logs = {f"w{n}.log": WORKER for n in range(30)}

    told = await call_tool("The sync failed, we tried it again. " * 2000, logs)

    assert len(json.dumps(told)) < 20_000


@pytest.mark.parametrize("text", ["invoice" + " " * 20_000, "9" * 60_000, "_" * 60_000])
async def test_a_request_that_is_made_to_be_slow_to_read_gets_its_ticket(text):
    told = await draft_ticket.ainvoke({"asked": f"I want my money back, {text}"})

    assert "Ticket (draft, not sent)" in told["summary"]
