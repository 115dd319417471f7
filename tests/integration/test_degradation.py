"""When models cannot be asked: what is known, what is missing, and whom to ask (R8)."""

from pathlib import Path
from typing import Any

import pytest

from graph import aresume, arun, load_team
from graph.settings import Settings
from nodes.errors import TeamInvalid
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.teams import make_team

pytestmark = pytest.mark.slow

REQUEST = "Compare the parts and say which one is best."
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
    endpoint: Endpoint, settings: Settings, contact: str, whom: str
) -> None:
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(DEAD_WORKERS, DEAD_SYNTHESIZER)))

    outcome = await arun(REQUEST, team=make_team(contact=contact), settings=settings)

    assert outcome.answer is not None
    text = outcome.answer.text
    assert (outcome.status, outcome.exit_code, outcome.error) == ("failed", 4, None)
    assert text.startswith("No task could be completed, as no model could be used.")
    # One reason is said once, where both tasks have met it.
    assert "b failed: ENDPOINT_" in text and ("- a failed: ENDPOINT_" in text or "- a, b" in text)
    remedy = text.rpartition("For an answer, ")[2]
    assert "the model's endpoint" in remedy and remedy.endswith(f", and resume the run{whom}")
    assert endpoint.select_calls(schema="Answer") == []


async def test_without_a_synthesizer_the_answer_is_what_is_known_and_whom_to_ask(
    endpoint: Endpoint, settings: Settings
) -> None:
    lost = Fault(kind="context_length", schema="Report", task="b")
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(lost, DEAD_SYNTHESIZER)))

    outcome = await arun(REQUEST, team=make_team(contact=DESK), settings=settings)

    assert outcome.answer is not None
    assert (outcome.status, outcome.exit_code) == ("partial", 3)
    assert "Result of a: part a costs 42 euros." in outcome.answer.text
    assert outcome.answer.text.endswith(f"For what is missing, ask {DESK}.")
    assert any(gap.startswith("b failed: CONTEXT_TOO_SMALL") for gap in outcome.answer.gaps)


async def test_with_all_reports_and_no_synthesizer_the_user_may_write_the_answer(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(DEAD_SYNTHESIZER,)))

    outcome = await arun(REQUEST, team=make_team(contact=DESK), settings=settings)

    assert outcome.answer is not None
    assert outcome.answer.text.endswith(f"for one, ask {DESK}.")


async def test_an_answer_that_was_written_names_no_contact(
    endpoint: Endpoint, settings: Settings
) -> None:
    lost = Fault(kind="context_length", schema="Report", task="b")
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(lost,)))

    outcome = await arun(REQUEST, team=make_team(contact=DESK), settings=settings)

    assert outcome.answer is not None
    assert (outcome.status, DESK in outcome.answer.text) == ("partial", False)


async def test_without_any_model_the_answer_says_so_how_to_proceed_and_whom_to_ask(
    endpoint: Endpoint, settings: Settings
) -> None:
    limited = Fault(kind="rate_limited", retry_after="3600")
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(limited,)))

    outcome = await arun(REQUEST, team=make_team(contact=DESK), settings=settings)

    assert outcome.answer is not None
    text = outcome.answer.text
    assert (outcome.status, outcome.exit_code, outcome.error) == ("failed", 4, None)
    assert text.startswith("No task could be completed, as no model could be used.")
    assert "made by rule" in text and "try again in 60 min" in text
    assert text.endswith(f"ask {DESK}.")


@pytest.mark.parametrize("kind", ["server_error", "reset", "empty"])
async def test_without_a_planner_a_plan_by_rule_runs_and_the_answer_says_so(
    endpoint: Endpoint, settings: Settings, kind: Any
) -> None:
    fault = Fault(kind=kind, schema="Plan")
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(fault,)))

    outcome = await arun(REQUEST, team=make_team(), settings=settings)

    assert outcome.answer is not None and outcome.plan is not None
    assert (outcome.status, outcome.exit_code) == ("partial", 3)
    assert {report.status for report in outcome.results.values()} == {"completed"}
    assert outcome.plan.is_by_rule and "made by rule" in outcome.answer.gaps[0]


@pytest.mark.parametrize("strategy", ["route", "step"])
async def test_without_a_router_the_generalist_takes_a_request_that_is_near_to_none(
    endpoint: Endpoint, settings: Settings, strategy: Any
) -> None:
    dead = Fault(kind="server_error", schema="Decision")
    endpoint.load_scenario(Scenario(faults=(dead,)))
    team = make_team(strategy=strategy, generalist="writer")

    outcome = await arun("Zahlen?", team=team, settings=settings)

    assert outcome.plan is not None and outcome.answer is not None
    assert (outcome.status, [task.worker for task in outcome.plan.tasks]) == ("partial", ["writer"])
    assert "made by rule" in outcome.answer.gaps[0]


async def test_workers_with_the_built_in_model_work_while_the_planners_endpoint_is_down(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(Fault(kind="server_error"),)))
    mixed = settings.model_copy(update={"model_fast": "embedded", "model_standard": "embedded"})

    outcome = await arun(REQUEST, team=make_team(), settings=mixed, materials={"a.md": "A is 4."})

    assert outcome.plan is not None and outcome.plan.is_by_rule
    assert not any(report.error for report in outcome.results.values())
    assert outcome.exit_code != 4 and outcome.answer is not None


async def test_a_run_that_reached_no_model_is_planned_once_more_when_it_is_resumed(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(Fault(kind="context_length"),)))
    failed = await arun(REQUEST, team=make_team(), settings=settings, thread="one")
    endpoint.load_scenario(Scenario(tasks=PAIR))

    outcome = await aresume("one", settings=settings)

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
    endpoint: Endpoint, settings: Settings, reports: Any, ending: tuple[str, int]
) -> None:
    tasks = tuple(
        ScriptedTask(id=name, report=report) for name, report in zip("ab", reports, strict=True)
    )
    endpoint.load_scenario(Scenario(tasks=tasks))

    outcome = await arun(REQUEST, team=make_team(max_attempts=1), settings=settings)

    assert outcome.answer is not None and outcome.answer.text
    assert (outcome.status, outcome.exit_code) == ending
    assert outcome.to_json()["status"] == ending[0]


async def test_a_run_that_found_nothing_is_done_when_the_endpoint_can_be_asked(
    endpoint: Endpoint, settings: Settings
) -> None:
    refusing = Fault(kind="context_length", schema="Report")
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(refusing,)))
    failed = await arun(REQUEST, team=make_team(max_attempts=1), settings=settings, thread="one")
    endpoint.load_scenario(Scenario(tasks=PAIR))

    outcome = await aresume("one", settings=settings)

    assert (failed.status, failed.exit_code, outcome.status) == ("failed", 4, "done")
    assert len(endpoint.select_calls(schema="Plan")) == 1


async def test_what_a_dead_endpoint_left_undone_is_done_when_it_is_back(
    endpoint: Endpoint, settings: Settings
) -> None:
    down = Fault(kind="context_length", schema="Report", task="b")
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(down,)))
    await arun(REQUEST, team=make_team(), settings=settings, thread="one")
    endpoint.load_scenario(Scenario(tasks=PAIR))

    outcome = await aresume("one", settings=settings)

    assert outcome.status == "done"
    assert len(endpoint.select_calls(schema="Report", task="a")) == 1


def test_a_team_names_its_contact_in_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "worker.md").write_text("---\ndescription: Works.\n---\nWork.\n")
    file = folder / "team.md"

    file.write_text(f"---\ndescription: Desk.\ncontact: {DESK}\n---\nPlan.\n")
    assert load_team(folder).contact == DESK

    file.write_text(f"---\ndescription: Desk.\ncontact: {'x' * 300}\n---\nPlan.\n")
    with pytest.raises(TeamInvalid, match="a text of at most 200 characters"):
        load_team(folder)
