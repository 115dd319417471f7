"""Fallbacks in a circle."""

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
