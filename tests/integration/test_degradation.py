"""When models cannot be asked: what is known, what is missing, and whom to ask (R8)."""

from pathlib import Path
from typing import Any

import pytest

from graph import arun, load_team
from nodes.errors import TeamInvalid
from tests.endpoint import Fault, ScriptedTask, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team

pytestmark = pytest.mark.slow

PAIR = script_tasks({"a": (), "b": ()})
DESK = "research desk, desk@example.org"
HANDED_BACK = {
    "status": "escalated",
    "escalation": {"reason": "out_of_scope", "message": "Not mine."},
}
DEAD_WORKERS = Fault(kind="server_error", schema="Report")
DEAD_SYNTHESIZER = Fault(kind="server_error", schema="Answer")


@pytest.mark.parametrize(("contact", "whom"), [(DESK, f", or ask {DESK}."), ("", ".")])
async def test_when_no_worker_can_be_reached_the_answer_says_so_and_how_to_proceed(
    runs: Runs, contact: str, whom: str
):
    runs.script(*PAIR, faults=(DEAD_WORKERS, DEAD_SYNTHESIZER))

    outcome = await runs.run(team=make_team(contact=contact))

    assert outcome.answer is not None
    text = outcome.answer.text
    assert (outcome.status, outcome.exit_code, outcome.error) == ("failed", 4, None)
    assert text.startswith("No task could be completed, as no model could be used.")
    # One reason is said once, where both tasks have met it.
    assert "b failed: ENDPOINT_" in text and ("- a failed: ENDPOINT_" in text or "- a, b" in text)
    remedy = text.rpartition("For an answer, ")[2]
    assert "the model's endpoint" in remedy and remedy.endswith(f", and resume the run{whom}")
    assert runs.select_calls(schema="Answer") == []


LOST = Fault(kind="context_length", schema="Report", task="b")


@pytest.mark.parametrize(
    ("faults", "ending"),
    [
        ((LOST, DEAD_SYNTHESIZER), f"For what is missing, ask {DESK}."),
        ((DEAD_SYNTHESIZER,), f"for one, ask {DESK}."),
        ((LOST,), "The answer, from a.md, b.md"),
    ],
    ids=["a report and the answer are missing", "the answer is missing", "a report is missing"],
)
async def test_without_a_synthesizer_the_answer_is_what_is_known_and_whom_to_ask(
    runs: Runs, faults: tuple[Fault, ...], ending: str
):
    runs.script(*PAIR, faults=faults)

    outcome = await runs.run(team=make_team(contact=DESK))

    assert outcome.answer is not None
    assert (outcome.status, outcome.exit_code) == ("partial", 3)
    assert outcome.answer.text.endswith(ending)
    if DEAD_SYNTHESIZER in faults:
        assert "Result of a: part a costs 42 euros." in outcome.answer.text
    if LOST in faults:
        assert any(gap.startswith("b failed: CONTEXT_TOO_SMALL") for gap in outcome.answer.gaps)


async def test_without_any_model_the_answer_says_so_how_to_proceed_and_whom_to_ask(runs: Runs):
    limited = Fault(kind="rate_limited", retry_after="3600")
    runs.script(*PAIR, faults=(limited,))

    outcome = await runs.run(team=make_team(contact=DESK))

    assert outcome.answer is not None
    text = outcome.answer.text
    assert (outcome.status, outcome.exit_code, outcome.error) == ("failed", 4, None)
    assert text.startswith("No task could be completed, as no model could be used.")
    assert "made by rule" in text and "try again in 60 min" in text
    assert text.endswith(f"ask {DESK}.")


@pytest.mark.parametrize("kind", ["server_error", "reset", "empty"])
async def test_without_a_planner_a_plan_by_rule_runs_and_the_answer_says_so(runs: Runs, kind: Any):
    fault = Fault(kind=kind, schema="Plan")
    runs.script(*PAIR, faults=(fault,))

    outcome = await runs.run()

    assert outcome.answer is not None and outcome.plan is not None
    assert (outcome.status, outcome.exit_code) == ("partial", 3)
    assert {report.status for report in outcome.results.values()} == {"completed"}
    assert outcome.plan.is_by_rule and "made by rule" in outcome.answer.gaps[0]


@pytest.mark.parametrize("strategy", ["route", "step"])
async def test_without_a_router_the_generalist_takes_a_request_that_is_near_to_none(
    runs: Runs, strategy: Any
):
    dead = Fault(kind="server_error", schema="Decision")
    runs.script(faults=(dead,))
    team = make_team(strategy=strategy, generalist="writer")

    outcome = await runs.run("Zahlen?", team=team)

    assert outcome.plan is not None and outcome.answer is not None
    assert (outcome.status, [task.worker for task in outcome.plan.tasks]) == ("partial", ["writer"])
    assert "made by rule" in outcome.answer.gaps[0]


async def test_workers_with_the_built_in_model_work_while_the_planners_endpoint_is_down(runs: Runs):
    runs.script(*PAIR, faults=(Fault(kind="server_error"),))
    mixed = runs.settings.model_copy(
        update={"model_fast": "embedded", "model_standard": "embedded"}
    )

    outcome = await arun(REQUEST, team=make_team(), settings=mixed, materials={"a.md": "A is 4."})

    assert outcome.plan is not None and outcome.plan.is_by_rule
    assert not any(report.error for report in outcome.results.values())
    assert outcome.exit_code != 4 and outcome.answer is not None


async def test_a_run_that_reached_no_model_is_planned_once_more_when_it_is_resumed(runs: Runs):
    runs.script(*PAIR, faults=(Fault(kind="context_length"),))
    failed = await runs.run(thread="one")
    runs.script(*PAIR)

    outcome = await runs.resume("one")

    assert (failed.status, outcome.status) == ("failed", "done")
    assert set(outcome.results) == {"a", "b"}
    assert outcome.plan is not None and not outcome.plan.is_by_rule
    assert outcome.usage.model_calls >= 4


@pytest.mark.parametrize(
    ("reports", "ending"),
    [
        (({"status": "failed", "output": "No such part."},) * 2, ("failed", 3)),
        (("", {"status": "failed", "output": "No such part."}), ("failed", 3)),
        (({"status": "failed", "output": "Torn."}, {"output": "It costs 42."}), ("partial", 3)),
        (({"status": "failed", "output": "Torn."}, HANDED_BACK), ("partial", 3)),
    ],
)
async def test_a_script_can_distinguish_nothing_from_something(
    runs: Runs, reports: Any, ending: tuple[str, int]
):
    tasks = tuple(
        ScriptedTask(id=name, report=report) for name, report in zip("ab", reports, strict=True)
    )
    runs.script(*tasks)

    outcome = await runs.run(team=make_team(max_attempts=1))

    assert outcome.answer is not None and outcome.answer.text
    assert (outcome.status, outcome.exit_code) == ending
    assert outcome.to_json()["status"] == ending[0]


async def test_a_run_that_found_nothing_is_done_when_the_endpoint_can_be_asked(runs: Runs):
    refusing = Fault(kind="context_length", schema="Report")
    runs.script(*PAIR, faults=(refusing,))
    failed = await runs.run(team=make_team(max_attempts=1), thread="one")
    runs.script(*PAIR)

    outcome = await runs.resume("one")

    assert (failed.status, failed.exit_code, outcome.status) == ("failed", 4, "done")
    assert len(runs.select_calls(schema="Plan")) == 1


def test_a_team_names_its_contact_in_its_file(tmp_path: Path):
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "worker.md").write_text("---\ndescription: Works.\n---\nWork.\n")
    file = folder / "team.md"

    file.write_text(f"---\ndescription: Desk.\ncontact: {DESK}\n---\nPlan.\n")
    assert load_team(folder).contact == DESK

    file.write_text(f"---\ndescription: Desk.\ncontact: {'x' * 300}\n---\nPlan.\n")
    with pytest.raises(TeamInvalid, match="a text of at most 200 characters"):
        load_team(folder)
