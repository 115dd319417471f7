"""Specialists: made for tasks that fit nobody, with no tool that was not granted."""

from typing import Any

import pytest
from pydantic import ValidationError

from graph.settings import Settings
from nodes.schemas.team import Team, Worker
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
from tests.integration.graph_runs import run_scenario, select_events
from tests.teams import make_team

RECRUIT = {
    "role": "Cost estimator",
    "instructions": "Estimate costs, each with its basis.",
    "tools": ["calculate", "query_database"],
}
SUM = ("calculate", {"expression": "6 * 7"})
TASKS = (
    ScriptedTask(id="A", worker="specialist", tool_calls=(SUM,)),
    ScriptedTask(id="B", worker="researcher"),
)


def make_recruiting_team(**fields: Any) -> Team:
    return make_team(**{"recruit": True, "grant": ("calculate",), **fields})


async def test_a_task_that_fits_nobody_gets_a_specialist_for_one_more_call(
    endpoint: Endpoint, settings: Settings
) -> None:
    scenario = Scenario(tasks=TASKS, answers={"Recruit": RECRUIT})

    state, events = await run_scenario(endpoint, settings, scenario, make_recruiting_team())

    assert state["status"] == "done" and state["results"]["A"].worker == "specialist"
    assert len(endpoint.select_calls(schema="Recruit")) == 1
    (recruited,) = select_events(events, "recruited")
    assert (recruited["task"], recruited["role"]) == ("A", "Cost estimator")
    assert "Estimate costs" in str(endpoint.select_calls(schema="Report", task="A")[0].body)
    (called,) = select_events(events, "tool_call")
    assert (called["tool"], called["error"]) == ("calculate", None)


async def test_a_specialist_gets_no_tool_that_was_not_granted(
    endpoint: Endpoint, settings: Settings
) -> None:
    scenario = Scenario(tasks=TASKS, answers={"Recruit": RECRUIT})

    _, events = await run_scenario(endpoint, settings, scenario, make_recruiting_team())

    (recruited,) = select_events(events, "recruited")
    assert (recruited["tools"], recruited["refused"]) == (["calculate"], ["query_database"])
    offered = endpoint.select_calls(schema="Report", task="A")[0].tools
    assert set(offered) == {"calculate", "Report"}


async def test_a_task_out_of_every_scope_is_reassigned_to_a_specialist(
    endpoint: Endpoint, settings: Settings
) -> None:
    handed = {
        "status": "escalated",
        "escalation": {"reason": "out_of_scope", "message": "Not mine."},
    }
    task = ScriptedTask(
        id="A", description="Paint zzz.", report=[handed, {"output": "Painted zzz."}]
    )
    scenario = Scenario(tasks=(task,), answers={"Recruit": RECRUIT})

    state, events = await run_scenario(endpoint, settings, scenario, make_recruiting_team())

    assert [event["to"] for event in select_events(events, "reassigned")] == ["specialist"]
    assert len(endpoint.select_calls(schema="Recruit")) == 1 and state["status"] == "done"


async def test_no_more_specialists_are_planned_than_the_cap_allows(
    endpoint: Endpoint, settings: Settings
) -> None:
    many = script_tasks({name: () for name in "ABC"}, worker="specialist")

    state, events = await run_scenario(
        endpoint, settings, Scenario(tasks=many), make_recruiting_team(max_recruits=2)
    )

    (problem,) = select_events(events, "plan_rejected")[0]["problems"]
    assert problem.startswith("3 tasks ask for a specialist: at most 2 are allowed")
    assert state["plan"].is_by_rule


async def test_a_team_that_does_not_recruit_knows_no_specialist(
    endpoint: Endpoint, settings: Settings
) -> None:
    state, _ = await run_scenario(endpoint, settings, Scenario(tasks=TASKS), make_team())

    assert "unknown worker 'specialist'" in state["plan"].rule_reason
    assert "specialist" not in {task.worker for task in state["plan"].tasks}


def test_a_granted_tool_belongs_to_no_worker() -> None:
    holder = Worker(name="clerk", description="Adds.", instructions="Add.", tools=("calculate",))

    with pytest.raises(ValidationError, match="'clerk' and the grant share tool 'calculate'"):
        make_recruiting_team(workers=(holder,))
