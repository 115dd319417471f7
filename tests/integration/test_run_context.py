"""What a run's context changes: the strategy, the critic, the order of the tasks."""

from typing import Any

import pytest

from nodes.errors import SettingsInvalid
from state import Context, Plan
from tests.endpoint import Fault, Scenario, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team

DIAMOND: dict[str, tuple[str, ...]] = {"A": (), "B": (), "C": ("A", "B")}


def list_kinds(runs: Runs, *kinds: str, thread: str = "one") -> list[tuple[str, str]]:
    events = runs.load_trace(thread)["events"]
    return [(event["kind"], event["task"]) for event in events if event["kind"] in kinds]


async def test_a_context_switches_the_critic_on_and_off(runs: Runs):
    runs.script(*script_tasks({"A": ()}), answers={"Critique": {"accepted": True}})

    await runs.run(thread="one", context={"critic": "on"})
    await runs.run(context={"critic": "off"}, team=make_team(critic="on"), thread="two")

    assert len(runs.select_calls(schema="Critique")) == 1


async def test_an_inner_team_keeps_its_own_critic(runs: Runs):
    inner = {"name": "inner", "description": "Does parts.", "team": make_team("writer")}
    outer = make_team("researcher").model_copy(update={"workers": ()})
    team = type(outer).model_validate({**outer.model_dump(), "workers": (inner,)})
    runs.script(
        *script_tasks({"A": ()}, worker="writer"),
        answers={
            "Plan": [
                Scenario(tasks=script_tasks({"A": ()}, worker=name)).build_plan()
                for name in ("inner", "writer")
            ],
            "Critique": {"accepted": True},
        },
    )

    outcome = await runs.run(thread="one", team=team, context={"critic": "on"})

    assert outcome.status == "done"
    assert len(runs.select_calls(schema="Critique")) == 1


@pytest.mark.parametrize("given", [{"strategy": "guess"}, {"critic": "maybe"}, {"sequential": 7}])
async def test_an_unknown_choice_is_refused_in_one_line_before_any_call(
    runs: Runs, given: dict[str, Any]
):
    with pytest.raises(SettingsInvalid, match=f"^{next(iter(given))} in the context") as refused:
        await runs.run(thread="one", context=given)

    assert "\n" not in refused.value.format_line()
    assert not runs.requests


async def test_a_sequential_run_has_one_task_at_a_time_after_those_it_needs(runs: Runs):
    runs.script(*script_tasks(DIAMOND, latency_s=0.03))

    outcome = await runs.run(thread="one", context=Context(sequential=True))

    assert outcome.status == "done" and runs.max_in_flight == 1
    events = list_kinds(runs, "task_started", "report")
    assert events == [(kind, task) for task in "ABC" for kind in ("task_started", "report")]
    assert runs.max_in_flight == 1


async def test_a_run_whose_strategy_its_context_chose_resumes(runs: Runs):
    decision = {"worker": "analyst", "reason": "It compares."}
    fault = Fault(kind="unauthorized", schema="Report")
    runs.script(answers={"Decision": decision}, faults=(fault,))
    context = {"strategy": "route", "critic": "off"}
    first = await runs.run(thread="one", context=context)
    runs.script(answers={"Decision": decision})

    outcome = await runs.resume("one")

    assert (first.status, outcome.status) == ("failed", "done")
    assert len(runs.select_calls(schema="Decision")) == 1
    assert not list_kinds(runs, "team_changed")


async def test_a_graph_resumes_a_thread_whose_strategy_its_context_chose(runs: Runs):
    decision = {"worker": "analyst", "reason": "It compares."}
    runs.script(answers={"Decision": decision})
    graph = runs.build_saved()
    config: Any = {"configurable": {"thread_id": "one"}}
    context = {"strategy": "route"}
    given = {"request": REQUEST}
    await graph.ainvoke(given, config, context=context, interrupt_after=["supervisor"])

    state = await graph.ainvoke(None, config)

    assert state["status"] == "done" and list(state["results"]) == ["analyst"]


async def test_a_given_plan_runs_without_a_planning_call(runs: Runs):
    scenario = Scenario(tasks=script_tasks(DIAMOND))
    runs.load_scenario(scenario)
    plan = Plan.model_validate(scenario.build_plan())

    outcome = await runs.run(thread="one", plan=plan)

    assert outcome.status == "done" and outcome.plan == plan
    assert not runs.select_calls(schema="Plan")
    assert outcome.usage.model_calls == 4


async def test_a_task_that_waits_says_once_for_what(runs: Runs):
    runs.script(*script_tasks(DIAMOND, latency_s=0.05))

    await runs.run(thread="one")

    events = runs.load_events()
    (waits,) = [event for event in events if event["kind"] == "awaiting"]
    assert (waits["task"], waits["worker"], waits["tasks"]) == ("C", "researcher", ["A", "B"])
