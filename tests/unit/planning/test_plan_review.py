"""Which reports are not as planned, by what they say, or by one small call."""

from typing import Any

import pytest

from nodes.errors import EndpointUnreachable
from nodes.limits.stop_requests import STOPPED
from nodes.planning.plan_review import check_surprise, describe_surprise
from nodes.prompts.messages import format_report_line
from state import Report, Task
from tests.fake_models import Reply, make_models
from tests.node_runs import NodeRun

NOTE = Task(id="note", worker="writer", description="Describe the bug, its line and its fix.")
NO_BUG = "The value of gateway.timeout_s is too low."
BUG = Task(id="code", worker="coder", description="Find the bug in gateway.py.")
FOUND = Report(task="code", worker="coder", output=NO_BUG, confidence=90)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"found_as_expected": False}, f"it did not find what was expected: {NO_BUG}"),
        ({"status": "failed"}, f"it failed: {NO_BUG}"),
        ({"status": "failed", "error": STOPPED, "found_as_expected": False}, ""),
        ({"confidence": 20, "found_as_expected": True}, "its confidence is 20 of 100"),
        ({"found_as_expected": True}, ""),
        ({}, ""),
    ],
)
def test_a_report_is_a_surprise_by_what_it_says(fields: dict[str, Any], why: str):
    report = FOUND.model_copy(update=fields)

    assert describe_surprise(report, min_confidence=30) == why


async def check(reply: Reply) -> tuple[str, Any, NodeRun, str]:
    models, run = make_models(TaskCheck=reply), NodeRun()
    model = models.get_chat_model("fast")
    why, usage = await run.call(check_surprise, model, BUG, FOUND, [NOTE])
    return why, usage, run, models.model.calls[0].text


async def test_the_check_is_given_the_task_and_its_report_and_not_what_waits():
    why, usage, run, prompt = await check({"is_found": False})

    assert why == f"it did not find what was expected, says the fast tier: {NO_BUG}"
    assert usage.model_calls == 1 and NO_BUG in prompt and BUG.description in prompt
    assert NOTE.description not in prompt and not run.list_events("plan_reviewed")


async def test_what_is_found_is_no_surprise():
    why, _, run, _ = await check({"is_found": True})

    assert why == "" and not run.list_events("plan_reviewed")


@pytest.mark.parametrize("reply", ["perhaps", EndpointUnreachable("no answer")])
async def test_a_check_that_fails_leaves_the_plan_and_says_so(reply: Reply):
    why, _, run, _ = await check(reply)

    (event,) = run.list_events("plan_reviewed")
    assert why == "" and event["makes_sense"] and "the plan stays" in event["remark"]


def test_other_workers_are_shown_only_what_was_not_found():
    denial = FOUND.model_copy(update={"found_as_expected": False})

    assert '"found_as_expected": false' in format_report_line(denial)
    assert "found_as_expected" not in format_report_line(FOUND)
