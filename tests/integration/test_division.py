"""Dividing a task into a plan of its own: the `split` rung, and the recursive strategy."""

from typing import Any

import pytest

from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
from tests.integration.graph_runs import run_scenario

PARTS = script_tasks({"X": (), "Y": ("X",)}, worker="analyst")
TORN = {"status": "failed", "output": "Too much for one."}


def make_plan(*tasks: ScriptedTask, compound: tuple[str, ...] = ()) -> dict[str, Any]:
    shown = Scenario(tasks=tasks).build_plan()
    for task in shown["tasks"]:
        if task["id"] in compound:
            task["is_compound"] = True
    return shown


async def test_a_failed_task_is_split_into_smaller_ones_whose_answer_is_its_report(
    endpoint: Endpoint, settings: Settings
) -> None:
    tasks = script_tasks({"A": (), "B": ()})
    big = ScriptedTask(id="A", report=TORN)
    scenario = Scenario(
        tasks=(big, *tasks[1:], *PARTS), answers={"Plan": [make_plan(*tasks), make_plan(*PARTS)]}
    )

    state, events = await run_scenario(endpoint, settings, scenario, ladder=("split",))

    report = state["results"]["A"]
    assert (report.status, report.attempts, state["status"]) == ("completed", 2, "done")
    assert {claim.source for claim in report.claims} == {"X.md", "Y.md"}
    (split,) = [event for event in events if event["kind"] == "split"]
    assert (split["task"], split["reason"]) == ("A", "Too much for one.")
    assert "Too much for one." in str(endpoint.select_calls(schema="Plan")[1].body)
    assert state["usage"].model_calls == len(endpoint.select_calls())


async def test_a_plan_that_divides_a_task_keeps_to_the_breadth_cap(
    endpoint: Endpoint, settings: Settings
) -> None:
    wide = script_tasks({name: () for name in "UVWX"})
    one = ScriptedTask(id="A", report=TORN)
    scenario = Scenario(tasks=(one, *wide), answers={"Plan": [make_plan(one), make_plan(*wide)]})

    state, events = await run_scenario(
        endpoint, settings, scenario, ladder=("split",), max_breadth=3
    )

    refused = [event for event in events if event["kind"] == "plan_rejected"]
    assert refused and all("at most 3" in event["problems"][0] for event in refused)
    assert [event["within"] for event in events if event["kind"] == "plan_by_rule"] == ["A"]
    assert state["results"]["A"].status == "completed"


async def test_tasks_of_a_divided_task_are_not_divided_below_the_depth_cap(
    endpoint: Endpoint, settings: Settings
) -> None:
    failing = [ScriptedTask(id=name, report=TORN) for name in "AX"]
    scenario = Scenario(
        tasks=tuple(failing), answers={"Plan": [make_plan(failing[0]), make_plan(failing[1])]}
    )

    state, events = await run_scenario(
        endpoint, settings, scenario, ladder=("split",), max_attempts=2, max_recursion=1
    )

    assert [event["task"] for event in events if event["kind"] == "split"] == ["A"]
    assert state["status"] == "failed"


async def test_a_recursive_team_plans_a_compound_task_again(
    endpoint: Endpoint, settings: Settings
) -> None:
    tasks = script_tasks({"A": (), "B": ("A",)})
    answers = {"Plan": [make_plan(*tasks, compound=("A",)), make_plan(*PARTS)]}

    state, events = await run_scenario(
        endpoint, settings, Scenario(tasks=(*tasks, *PARTS), answers=answers), strategy="recursive"
    )

    assert state["status"] == "done" and state["results"]["A"].attempts == 1
    worked = [call.task for call in endpoint.select_calls(schema="Report")]
    assert worked == ["X", "Y", "B"]
    assert {"A/X", "A/Y"} <= {event["task"] for event in events}
    assert len(endpoint.select_calls(schema="Plan")) == 2


@pytest.mark.slow
async def test_a_compound_task_is_refused_below_the_depth_cap_and_by_other_strategies(
    endpoint: Endpoint, settings: Settings
) -> None:
    (one,) = script_tasks({"A": ()})
    endless = {"Plan": make_plan(one, compound=("A",))}

    state, events = await run_scenario(
        endpoint, settings, Scenario(tasks=(one,), answers=endless), strategy="recursive"
    )
    flat, _ = await run_scenario(endpoint, settings, Scenario(tasks=(one,), answers=endless))

    rejected = [event for event in events if event["kind"] == "plan_rejected"]
    assert {event.get("within") for event in rejected} == {"A"}
    assert all("is compound" in event["problems"][0] for event in rejected)
    assert not state["plan"].is_by_rule and "is compound" in flat["plan"].rule_reason


async def test_the_model_is_not_told_of_compound_tasks_where_none_may_be(
    endpoint: Endpoint, settings: Settings
) -> None:
    scenario = Scenario(tasks=script_tasks({"A": ()}))

    await run_scenario(endpoint, settings, scenario)
    await run_scenario(endpoint, settings, scenario, strategy="recursive")

    plain, recursive = (str(call.body) for call in endpoint.select_calls(schema="Plan"))
    assert "is_compound" not in plain and "is_compound" in recursive
