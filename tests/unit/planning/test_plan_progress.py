"""What becomes of a plan: what is skipped, what a revision keeps, and when it stalls."""

from typing import Any

import pytest
from pydantic import ValidationError

from nodes.errors import EndpointUnreachable
from nodes.limits.stop_requests import STOPPED
from nodes.planning.plan_review import check_surprise, describe_surprise
from nodes.planning.replanning import (
    MAX_DESCRIPTION_CHARS,
    add_rework_note,
    build_plan_event,
    compare_plans,
    count_stalls,
    keep_finished_tasks,
    list_unfinished,
)
from nodes.planning.revision import list_objecting
from nodes.planning.skipping import list_partial_gaps, list_shortfalls, skip_blocked
from nodes.prompts.messages import format_report_line
from state import Plan, Report, Task
from supervisor_worker.testing.fake_models import Reply, make_models
from tests.node_runs import NodeRun
from tests.node_samples import (
    make_escalated_report,
    make_plan,
    make_planned_state,
    make_report,
    make_reports,
    make_task,
)
from tests.teams import make_team

CHAIN = make_plan(make_task("A"), make_task("B", "analyst", "A"), make_task("C", "writer", "B?"))
FAILED = make_report("A", status="failed", error="no table")


def test_a_failed_task_skips_those_that_need_it_and_not_those_that_can_do_without():
    skipped = skip_blocked(CHAIN, {"A": FAILED}, at_s=3.0)

    assert set(skipped) == {"B"}
    report = skipped["B"]
    assert (report.status, report.error) == ("skipped", "needs A, which failed")
    assert (report.attempts, report.started_s) == (0, 3.0)


def test_skipping_goes_down_the_whole_chain():
    chain = make_plan(*CHAIN.tasks[:2], make_task("C", "writer", "B"))

    assert set(skip_blocked(chain, {"A": FAILED}, at_s=0.0)) == {"B", "C"}


@pytest.mark.parametrize(
    ("report", "shortfall"),
    [
        (make_report(), []),
        (FAILED, ["failed: no table"]),
        (make_report(status="failed"), ["failed: Compute it."]),
        (make_report(gaps=("a gap",)), []),
        (make_report(gaps=("a gap",), is_partial=True), ["lacks: a gap"]),
        (make_report(gaps=("a gap",), failures=("a cut",), is_partial=True), ["lacks: a cut"]),
    ],
)
def test_a_report_falls_short_by_its_status_or_its_failures(report: Report, shortfall: list[str]):
    assert list_shortfalls(report, "Compute it.") == shortfall


def test_an_escalation_falls_short_by_its_reason():
    (shortfall,) = list_shortfalls(make_escalated_report("timeout", "Too many pages."))

    assert shortfall == "could not do it (out of time): Too many pages."
    assert list_partial_gaps(make_escalated_report("timeout")) == ()


def test_a_revision_keeps_finished_tasks_unchanged():
    new = make_plan(make_task("A", "writer"), make_task("D"), version=1)

    kept = keep_finished_tasks(new, CHAIN, make_reports("A"))

    assert kept.tasks == (CHAIN.tasks[0], new.tasks[1]) and kept.version == CHAIN.version + 1


def test_a_revision_that_makes_a_cycle_with_finished_tasks_is_refused():
    old = make_plan(make_task("B"), make_task("A", "analyst", "B"))
    new = make_plan(make_task("A"), make_task("B", "writer", "A"))

    with pytest.raises(ValidationError, match="cycle"):
        keep_finished_tasks(new, old, make_reports("A"))


def test_a_comparison_names_what_was_added_removed_and_changed():
    new = make_plan(CHAIN.tasks[0], make_task("B", "writer", "A"), make_task("D"))

    assert compare_plans(CHAIN, new) == {"added": ["D"], "removed": ["C"], "changed": ["B"]}


def test_unfinished_tasks_are_in_topological_order():
    plan = make_plan(make_task("B", "analyst", "A"), make_task("A"))

    assert list_unfinished(plan, {}) == ("A", "B")
    assert list_unfinished(plan, make_reports("A")) == ("B",)


def test_an_objection_is_open_until_it_was_answered():
    state = make_planned_state(CHAIN, make_reports("A", "B"), doubts={"A": "Closed."})

    assert list_objecting(state) == ["A"]
    state["answered_objections"] = ("A",)
    assert list_objecting(state) == []


NEW = make_plan(make_task("A"), make_task("D"))


@pytest.mark.parametrize(
    ("new", "completed_before", "stalls"), [(NEW, 0, 0), (NEW, 1, 2), (CHAIN, 0, 2)]
)
def test_a_revision_stalls_without_a_new_plan_or_a_completed_task(
    new: Plan, completed_before: int, stalls: int
):
    state = make_planned_state(CHAIN, make_reports("A"), stalls=1)
    state["completed_at_last_revision"] = completed_before

    assert count_stalls(new, state) == stalls


def test_a_rework_note_fits_into_the_task():
    long = make_task("A", description="x" * MAX_DESCRIPTION_CHARS)

    described = add_rework_note(long, "Name the year.").description

    assert len(described) == MAX_DESCRIPTION_CHARS and described.endswith("Name the year.")
    assert add_rework_note(long, "") is long


def test_vague_tasks_are_noted_unless_the_team_decides_by_worker():
    vague = make_plan(make_task("A", description="Do it."))

    assert build_plan_event(vague, make_team())["notes"]
    assert not build_plan_event(vague, make_team(strategy="route"))["notes"]


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
    assert (await check({"is_found": True}))[0] == ""


@pytest.mark.parametrize("reply", ["perhaps", EndpointUnreachable("no answer")])
async def test_a_check_that_fails_leaves_the_plan_and_says_so(reply: Reply):
    why, _, run, _ = await check(reply)

    (event,) = run.list_events("plan_reviewed")
    assert why == "" and event["makes_sense"] and "the plan stays" in event["remark"]


def test_other_workers_are_shown_only_what_was_not_found():
    denial = FOUND.model_copy(update={"found_as_expected": False})

    assert '"found_as_expected": false' in format_report_line(denial)
    assert "found_as_expected" not in format_report_line(FOUND)
