"""The shipped team engineering_ops on its incidents, with the embedded model."""

from pathlib import Path

import pytest

from graph.runs.outcome import Outcome
from nodes.text.markdown import format_answer
from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAM = "engineering_ops"
EXAMPLE = Path(__file__).parents[2] / "teams" / "engineering_ops" / "sample"
MISSION = "Find the bug, propose a fix, and draft a note about it"


def format_outcome(outcome: Outcome) -> str:
    assert outcome.answer is not None
    return format_answer(outcome.answer.model_dump(mode="json"))


async def test_the_bug_is_found_explained_measured_and_reported_with_a_proposed_fix():
    outcome, _, events = await run_team(TEAM, MISSION, EXAMPLE / "bug")

    assert outcome.exit_code == 0 and outcome.plan and outcome.answer
    assert {task.worker for task in outcome.plan.tasks} == {"code", "data", "comms"}
    assert not [one for one in events if one["kind"] in ("plan_rejected", "plan_revised")]
    (bug,) = [each for each in outcome.answer.findings if each.file == "pricing.py"]
    assert (bug.line, bug.severity) == (22, "high") and "if coupon is None" in bug.suggestion
    assert outcome.answer.contradictions == ()
    text = format_outcome(outcome)
    assert "0 errors in 298 requests" in text and "34 in 233 requests" in text
    assert "nothing has been sent" in text
    names = {path.name for path in (EXAMPLE / "bug").iterdir()}
    assert set(outcome.answer.sources) <= names and "requests.jsonl" in outcome.answer.sources


async def test_a_configuration_issue_upsets_the_plan_and_no_note_tells_of_a_bug():
    outcome, _, events = await run_team(TEAM, MISSION, EXAMPLE / "config")

    (revised,) = [event for event in events if event["kind"] == "plan_revised"]
    started = [event["task"] for event in events if event["kind"] == "task_started"]
    assert "configuration issue" in revised["reason"] and revised["version"] == 2
    assert revised["difference"] == {"added": ["ops"], "removed": [], "changed": ["note"]}
    assert sorted(started) == ["find_bug", "impact", "note", "ops"]
    assert outcome.exit_code == 0 and outcome.answer
    assert outcome.results["ops"].worker == "ops"
    assert outcome.answer.contradictions == ()
    (cause,) = [each for each in outcome.answer.findings if each.file == "production.yaml"]
    assert (cause.line, cause.severity) == (7, "high")
    assert "Set `gateway.timeout_s` in production.yaml to `2.0`" in cause.suggestion
    note = outcome.results["note"].output
    assert "Bug:" not in note and "gateway.timeout_s" in note
    assert "not-a-real" not in format_outcome(outcome)
