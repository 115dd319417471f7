"""The speed-up of a run: which calls of its tasks are waits for what runs outside the process."""

from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.tools import tool

from graph import build_supervisor
from graph.settings import Settings
from nodes.limits.run_scope import SCOPE_KEY, RunScope
from nodes.schemas.team import Team, Worker
from tests.endpoint import Scenario, ScriptedTask, script_tasks
from tests.moments import Moments
from tests.runs import Runs
from tests.teams import make_team

now = Moments()
"""Moved by the tools alone: a call of a model takes no time."""


@tool
def ask_elsewhere() -> str:
    """Return what another machine says after two seconds."""
    now.pass_time(2.0)
    return "Part A costs 42 euros."


@tool
def read_here() -> str:
    """Return what a file of this machine says after two seconds."""
    now.pass_time(2.0)
    return "Part A costs 42 euros."


read_here.metadata = {"reads": ["private"], "sends": "nothing"}


def make_asking_team(name: str, **fields: Any) -> Team:
    """Make a team of one worker with one of the tools."""
    tools = (f"{__name__}:{name}",)
    worker = Worker(name="asker", description="Asks.", instructions="Ask.", tools=tools)
    return make_team(workers=(worker,), **fields)


async def run_team(made: Team, settings: Settings, **scope: Any) -> Mapping[str, Any]:
    config: Any = {"configurable": {SCOPE_KEY: RunScope(**scope)}}
    request: Any = {"request": "Find what part A costs."}
    state: Mapping[str, Any] = await build_supervisor(made, settings=settings).ainvoke(
        request, config
    )
    return state


@pytest.mark.parametrize(("name", "seconds"), [("ask_elsewhere", 2.0), ("read_here", 0.0)])
async def test_a_tool_is_waited_for_if_it_may_send_something_outside(
    runs: Runs, name: str, seconds: float
):
    asking = ScriptedTask(id="A", worker="asker", tool_calls=((name, {}),))
    runs.script(asking)

    state = await run_team(make_asking_team(name), runs.settings, waits=now.waits)

    assert state["results"]["A"].usage.waited_s == pytest.approx(seconds)
    assert state["timing"].speedup == (1 if seconds else None)


async def test_the_waits_of_an_inner_team_are_those_of_its_task(runs: Runs):
    inner = ScriptedTask(id="A", worker="asker", tool_calls=(("ask_elsewhere", {}),))
    outer = ScriptedTask(id="R", worker="research")
    plans = [Scenario(tasks=(each,)).build_plan() for each in (outer, inner)]
    runs.script(inner, outer, answers={"Plan": plans})
    research = Worker(name="research", description="Asks.", team=make_asking_team("ask_elsewhere"))

    state = await run_team(
        make_team(workers=(research,), name="desk"), runs.settings, waits=now.waits
    )

    assert state["results"]["R"].usage.waited_s == pytest.approx(2.0)
    assert state["usage"].waited_s == pytest.approx(2.0)


async def test_tasks_that_wait_for_their_models_together_have_a_speed_up(runs: Runs):
    runs.script(*script_tasks({"a": (), "b": ()}, latency_s=0.3))

    state = await run_team(make_team(), runs.settings)

    timing = state["timing"]
    overlapped_s = sum(report.usage.overlapped_s for report in state["results"].values())
    assert timing.speedup > 1
    assert timing.sequential_s == pytest.approx(timing.wall_s + overlapped_s, abs=1e-5)


async def test_a_run_of_the_built_in_model_waits_for_nothing_and_has_no_speed_up():
    state = await run_team(make_team(), Settings())

    assert state["results"]
    assert state["timing"].speedup is None
    assert state["timing"].sequential_s == state["timing"].wall_s
