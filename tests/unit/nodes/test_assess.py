"""The node that publishes a report, or chooses what the next attempt changes."""

from typing import Any

import pytest

from nodes.assess import after_assess, assess, describe_problem
from nodes.execution.dispatch import Dispatch
from nodes.limits.budget import Budget
from nodes.schemas.team import SPECIALIST, Team
from state import Attempt, Claim, Context, Origin, RecoveryAction, Recruit, Report, WorkerState
from supervisor_worker.testing.fake_models import FakeCatalog, FakeChatModel, make_models
from tests.node_runs import NodeRun, list_payers, make_config
from tests.node_samples import (
    make_attempt,
    make_escalated_report,
    make_report,
    make_worker_state,
)
from tests.teams import make_team


async def run_assess(
    state: WorkerState,
    *,
    team: Team | None = None,
    models: FakeCatalog | None = None,
    run: NodeRun | None = None,
) -> Any:
    options: dict[str, Any] = {"models": models or make_models()}
    return await (run or NodeRun()).call(assess, state, team=team or make_team(), **options)


def make_state(*attempts: Attempt, **fields: Any) -> WorkerState:
    return make_worker_state(attempts=attempts, **fields)


async def test_a_good_report_is_published_to_those_who_wait():
    run = NodeRun()

    update = await run_assess(make_state(make_attempt(make_report())), run=run)

    report = update["results"]["A"]
    assert (report.status, report.worker, report.attempts) == ("completed", "researcher", 1)
    assert run.dispatch.list_reports() == {"A": report}
    assert len(run.list_events("report")) == 1


async def test_every_attempt_is_charged_to_its_own_worker_and_tier():
    first = make_attempt(usage={"model_calls": 2})
    last = make_attempt(make_report(), worker="analyst", tier="strong", usage={"model_calls": 1})

    update = await run_assess(make_state(first, last))

    assert list_payers(update) == [("researcher", "standard", 2), ("analyst", "strong", 1)]
    assert update["results"]["A"].usage.model_calls == 3


async def test_the_report_carries_the_taint_labels_of_all_attempts():
    first = make_attempt(taint_labels=("private",))
    last = make_attempt(make_report(), taint_labels=("untrusted",))

    update = await run_assess(make_state(first, last))

    assert update["results"]["A"].taint_labels == ("private", "untrusted")


async def test_where_nobody_takes_a_task_the_worker_that_was_chosen_says_why():
    chosen = make_attempt(make_escalated_report("out_of_scope"), worker="researcher")
    other = make_attempt(
        make_escalated_report("ambiguous_input"), worker="analyst", rung="reassign"
    )

    update = await run_assess(make_state(chosen, other), team=make_team(ladder=("reassign",)))

    report = update["results"]["A"]
    assert (report.worker, report.status, report.attempts) == ("researcher", "escalated", 2)
    assert report.escalation is not None and report.escalation.reason == "out_of_scope"


async def test_a_tier_that_is_the_same_model_is_no_stronger_one():
    models = FakeCatalog(FakeChatModel(), strong="openai:standard")
    team = make_team(ladder=("tier",))

    update = await run_assess(make_state(make_attempt()), team=team, models=models)

    assert update["results"]["A"].status == "failed"


async def test_near_the_caps_no_stronger_tier_is_tried():
    run = NodeRun(make_config(budget=Budget(max_tokens=1_000, tokens=700)))

    update = await run_assess(make_state(make_attempt()), team=make_team(ladder=("tier",)), run=run)

    assert update["results"]["A"].status == "failed"


async def test_a_failed_task_goes_to_the_workers_fallback():
    team = make_team(ladder=("reassign",))
    first = team.workers[0].model_copy(update={"fallback": "writer"})
    team = team.model_copy(update={"workers": (first, *team.workers[1:])})
    run = NodeRun()

    update = await run_assess(make_state(make_attempt()), team=team, run=run)

    assert update["change"].worker == "writer"
    (event,) = run.list_events("reassigned")
    assert (event["from"], event["to"]) == ("researcher", "writer")


@pytest.mark.parametrize(
    ("fields", "run"),
    [
        ({"max_attempts": 1}, NodeRun()),
        ({}, NodeRun(dispatch=Dispatch(steps_at_start=1))),
        ({}, NodeRun(make_config(work_left_s=0.0))),
    ],
)
async def test_at_a_cap_the_failure_is_the_result(fields: dict[str, Any], run: NodeRun):
    update = await run_assess(make_state(make_attempt(), **fields), run=run)

    report = update["results"]["A"]
    assert (report.status, report.confidence) == ("failed", 0)
    assert report.error == "the model gave no report"


async def test_an_escalation_without_a_remedy_is_the_result():
    run = NodeRun()
    attempt = make_attempt(make_escalated_report("ambiguous_input"))

    update = await run_assess(make_state(attempt), run=run, team=make_team(ladder=("refine",)))

    assert update["results"]["A"].status == "escalated"
    assert run.list_events("escalated")[0]["reason"] == "ambiguous_input"


async def test_an_unclear_task_without_a_human_is_tried_once_on_an_assumption():
    unclear = make_attempt(make_escalated_report("ambiguous_input", "Which year?"))
    assumed = make_attempt(make_report(), rung="assume")

    asked = await run_assess(make_state(unclear))
    done = await run_assess(make_state(unclear, assumed))

    assert asked["change"].rung == "assume"
    assert "Which year?" in asked["problem"] and "what you assumed" in asked["problem"]
    report = done["results"]["A"]
    assert report.status == "completed"
    assert report.gaps == ("an assumption was made where it was unclear: Which year?",)


async def test_a_human_is_asked_before_anything_is_assumed_where_the_run_allows_it():
    unclear = make_attempt(make_escalated_report("ambiguous_input", "Which year?"))

    update = await run_assess(make_state(unclear), run=NodeRun(context=Context(ask_human=True)))

    assert update["change"].rung == "human"


async def test_a_result_below_the_teams_confidence_is_tried_by_a_stronger_model():
    doubtful = make_attempt(make_report(confidence=10))

    update = await run_assess(make_state(doubtful))

    assert update["change"].rung == "tier" and "10 of 100" in update["problem"]


@pytest.mark.parametrize(
    "later", [None, make_escalated_report("out_of_scope"), make_report(confidence=5)]
)
async def test_a_doubtful_result_is_kept_with_a_gap_when_later_attempts_bring_no_better(
    later: Report | None,
):
    doubtful = make_attempt(make_report(confidence=10, output="About 40."))
    last = make_attempt(later, rung="tier", tier="strong")

    update = await run_assess(make_state(doubtful, last, max_attempts=2))

    report = update["results"]["A"]
    assert (report.status, report.output, report.attempts) == ("completed", "About 40.", 2)
    assert report.gaps == ("the confidence of this result is 10 of 100",)


async def test_what_a_result_lacks_is_said_in_the_language_of_the_request():
    unclear = make_attempt(make_escalated_report("ambiguous_input", "Welches Jahr?"))
    assumed = make_attempt(make_report(confidence=10, output="Etwa 40."), rung="assume")
    asked = Origin(user_text="Wie viele Teile haben wir im letzten Jahr verkauft?")

    update = await run_assess(make_state(unclear, assumed, max_attempts=2, origin=asked))

    assert update["results"]["A"].gaps == (
        "die Konfidenz dieses Ergebnisses ist 10 von 100",
        "wo es unklar war, wurde etwas angenommen: Welches Jahr?",
    )


async def test_what_was_found_before_a_failure_is_kept():
    asked = make_attempt(make_escalated_report("confidence_too_low"))

    update = await run_assess(make_state(asked, make_attempt(rung="tier"), max_attempts=2))

    report = update["results"]["A"]
    assert (report.status, report.error) == ("failed", "the model gave no report")
    assert report.escalation.partial == "Two of three."


@pytest.mark.parametrize(
    ("report", "is_problem"),
    [
        (make_report(), False),
        (make_report(output="", claims=(Claim(text="3,000 EUR"),)), False),
        (make_report(output=" "), True),
        (make_report(status="failed"), True),
        (make_escalated_report("timeout"), False),
        (None, True),
    ],
)
def test_an_attempt_without_a_usable_report_has_a_problem(report: Report | None, is_problem: bool):
    assert bool(describe_problem(make_attempt(report))) == is_problem


@pytest.mark.parametrize(
    ("rung", "worker", "node"),
    [
        ("refine", "researcher", "refine"),
        ("human", "researcher", "ask_human"),
        ("tier", "researcher", "act"),
        ("reassign", "analyst", "act"),
        ("reassign", SPECIALIST, "recruit"),
    ],
)
def test_each_rung_leads_to_its_node(rung: Any, worker: str, node: str):
    change = RecoveryAction(rung=rung, worker=worker, tier="standard")

    assert after_assess(make_state(make_attempt(), change=change)) == node


def test_a_specialist_is_recruited_once_and_a_reported_task_ends():
    change = RecoveryAction(rung="reassign", worker=SPECIALIST, tier="standard")
    recruited = make_state(change=change, recruit=Recruit(instructions="Compute."))

    assert after_assess(recruited) == "act"
    assert after_assess(make_state(results={"A": make_report()})) == "__end__"


@pytest.mark.parametrize(
    ("output", "is_problem"),
    [
        ("List the encounters with date, type, location and provider.", True),
        ("List the encounters with  date, type,\nlocation and provider", True),
        ("Two encounters: 3 May 2024, clinic A; 9 June 2024, clinic B, Dr. Roe.", False),
        ("location and provider", False),
        ("LIST THE ENCOUNTERS WITH DATE, TYPE, LOCATION AND PROVIDER.", False),
    ],
)
def test_a_report_that_repeats_its_task_is_no_result(output: str, is_problem: bool):
    asked = "List the encounters with date, type, location and provider."
    attempt = make_attempt(make_report(output=output), description=asked)

    assert bool(describe_problem(attempt)) == is_problem


def test_rows_that_a_worker_shows_are_no_part_of_why_it_had_nothing_to_do():
    report = make_report("A", status="skipped", output="No answer was computed. The rows:\n\n| a |")

    assert describe_problem(make_attempt(report=report)) == "No answer was computed. The rows"
