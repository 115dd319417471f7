"""Fallbacks: in a circle, and to a worker that hands a task to a human."""

import pytest

from graph import arun
from graph.runs.trace import load_trace
from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
FAILED = {"status": "failed", "output": "the figures are not there"}


async def test_workers_that_are_each_others_fallback_each_fail_once(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=(ScriptedTask(id="A", report=FAILED),)))
    first, second, *others = make_team().workers
    workers = (
        first.model_copy(update={"fallback": second.name}),
        second.model_copy(update={"fallback": first.name}),
        *others,
    )
    team = make_team(ladder=("reassign",), max_attempts=10, workers=workers)

    outcome = await arun(REQUEST, team=team, settings=settings, thread="one")

    started = [e for e in load_trace("one", settings)["events"] if e["kind"] == "task_started"]
    assert [event["worker"] for event in started][:2] == [first.name, second.name]
    assert len(started) == len({event["worker"] for event in started})
    assert outcome.results["A"].status == "failed"


@pytest.mark.parametrize("hands_over", [True, False])
async def test_a_task_that_was_only_handed_over_leaves_the_run_partial(
    endpoint: Endpoint, settings: Settings, hands_over: bool
) -> None:
    answers = {"status": "completed", "output": "Here it is.", "confidence": 90}
    first, second, *others = make_team().workers
    tasks = (ScriptedTask(id="A", worker=first.name, report=[FAILED, answers]),)
    endpoint.load_scenario(Scenario(tasks=tasks))
    workers = (
        first.model_copy(update={"fallback": second.name}),
        second.model_copy(update={"hands_over": hands_over}),
        *others,
    )
    team = make_team(ladder=("reassign",), workers=workers)

    outcome = await arun(REQUEST, team=team, settings=settings)

    assert outcome.results["A"].worker == second.name
    assert outcome.status == ("partial" if hands_over else "done")
    assert outcome.answer is not None
    assert any("which was handed over" in gap for gap in outcome.answer.gaps) == hands_over
