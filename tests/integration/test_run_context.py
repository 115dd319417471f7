"""What a run's context changes: the strategy, the critic, the order of the tasks."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph import arun, build_supervisor
from graph.runs.run_store import build_strict_serializer
from graph.runs.runner import aresume
from graph.runs.trace import load_trace
from graph.settings import Settings
from nodes.errors import PlanInvalid, SettingsInvalid
from state import Context, Plan
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
DIAMOND: dict[str, tuple[str, ...]] = {"A": (), "B": (), "C": ("A", "B")}


async def start_run(settings: Settings, **options: Any) -> Any:
    options = {"team": make_team(), "settings": settings, "thread": "one", **options}
    return await arun(REQUEST, **options)


def list_kinds(settings: Settings, *kinds: str, thread: str = "one") -> list[tuple[str, str]]:
    events = load_trace(thread, settings)["events"]
    return [(event["kind"], event["task"]) for event in events if event["kind"] in kinds]


async def test_a_context_routes_a_request_of_a_team_that_plans(
    endpoint: Endpoint, settings: Settings
) -> None:
    decision = {"worker": "analyst", "reason": "It compares."}
    endpoint.load_scenario(Scenario(answers={"Decision": decision}))

    outcome = await start_run(settings, context={"strategy": "route"})

    assert [call.schema for call in endpoint.requests] == ["Decision", "Report", "Answer"]
    assert [report.worker for report in outcome.results.values()] == ["analyst"]


async def test_a_context_switches_the_critic_on_and_off(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(
        Scenario(tasks=script_tasks({"A": ()}), answers={"Critique": {"accepted": True}})
    )

    await start_run(settings, context={"critic": "on"})
    await start_run(settings, context={"critic": "off"}, team=make_team(critic="on"), thread="two")

    assert len(endpoint.select_calls(schema="Critique")) == 1


async def test_an_inner_team_keeps_its_own_critic(endpoint: Endpoint, settings: Settings) -> None:
    inner = {"name": "inner", "description": "Does parts.", "team": make_team("writer")}
    outer = make_team("researcher").model_copy(update={"workers": ()})
    team = type(outer).model_validate({**outer.model_dump(), "workers": (inner,)})
    endpoint.load_scenario(
        Scenario(
            tasks=script_tasks({"A": ()}, worker="writer"),
            answers={
                "Plan": [
                    Scenario(tasks=script_tasks({"A": ()}, worker=name)).build_plan()
                    for name in ("inner", "writer")
                ],
                "Critique": {"accepted": True},
            },
        )
    )

    outcome = await start_run(settings, team=team, context={"critic": "on"})

    assert outcome.status == "done"
    assert len(endpoint.select_calls(schema="Critique")) == 1


@pytest.mark.parametrize("given", [{"strategy": "guess"}, {"critic": "maybe"}, {"sequential": 7}])
async def test_an_unknown_choice_is_refused_in_one_line_before_any_call(
    endpoint: Endpoint, settings: Settings, given: dict[str, Any]
) -> None:
    with pytest.raises(SettingsInvalid, match=f"^{next(iter(given))} in the context") as refused:
        await start_run(settings, context=given)

    assert "\n" not in refused.value.format_line()
    assert not endpoint.requests


async def test_a_sequential_run_has_one_task_at_a_time_after_those_it_needs(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks(DIAMOND, latency_s=0.03)))

    outcome = await start_run(settings, context=Context(sequential=True))

    assert outcome.status == "done" and endpoint.max_in_flight == 1
    events = list_kinds(settings, "task_started", "report")
    assert events == [(kind, task) for task in "ABC" for kind in ("task_started", "report")]
    assert endpoint.max_in_flight == 1


async def test_a_sequential_run_skips_what_a_failed_task_leaves_without_its_input(
    endpoint: Endpoint, settings: Settings
) -> None:
    failed = {"status": "failed", "output": "There are no figures."}
    tasks = script_tasks(DIAMOND)
    endpoint.load_scenario(Scenario(tasks=(type(tasks[0])(id="A", report=failed), *tasks[1:])))

    outcome = await start_run(settings, context={"sequential": True, "max_attempts": 1})

    states = {name: report.status for name, report in outcome.results.items()}
    assert states == {"A": "failed", "B": "completed", "C": "skipped"}
    assert outcome.status == "partial"


async def test_a_run_whose_strategy_its_context_chose_resumes(
    endpoint: Endpoint, settings: Settings
) -> None:
    decision = {"worker": "analyst", "reason": "It compares."}
    fault = Fault(kind="unauthorized", schema="Report")
    endpoint.load_scenario(Scenario(answers={"Decision": decision}, faults=(fault,)))
    context = {"strategy": "route", "critic": "off"}
    first = await start_run(settings, context=context)
    endpoint.load_scenario(Scenario(answers={"Decision": decision}))

    outcome = await aresume("one", settings=settings)

    assert (first.status, outcome.status) == ("failed", "done")
    assert len(endpoint.select_calls(schema="Decision")) == 1
    assert not list_kinds(settings, "team_changed")


async def test_a_graph_resumes_a_thread_whose_strategy_its_context_chose(
    endpoint: Endpoint, settings: Settings
) -> None:
    decision = {"worker": "analyst", "reason": "It compares."}
    endpoint.load_scenario(Scenario(answers={"Decision": decision}))
    saver = InMemorySaver(serde=build_strict_serializer())
    graph = build_supervisor(make_team(), settings=settings, checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "one"}}
    context = {"strategy": "route"}
    given = {"request": REQUEST}
    await graph.ainvoke(given, config, context=context, interrupt_after=["supervisor"])

    state = await graph.ainvoke(None, config)

    assert state["status"] == "done" and list(state["results"]) == ["analyst"]


async def test_a_given_plan_runs_without_a_planning_call(
    endpoint: Endpoint, settings: Settings
) -> None:
    scenario = Scenario(tasks=script_tasks(DIAMOND))
    endpoint.load_scenario(scenario)
    plan = Plan.model_validate(scenario.build_plan())

    outcome = await start_run(settings, plan=plan)

    assert outcome.status == "done" and outcome.plan == plan
    assert not endpoint.select_calls(schema="Plan")
    assert outcome.usage.model_calls == 4


async def test_a_given_plan_is_checked_like_any_other(
    endpoint: Endpoint, settings: Settings
) -> None:
    scenario = Scenario(tasks=script_tasks({"A": ()}, worker="cook"))

    outcome = await start_run(settings, plan=Plan.model_validate(scenario.build_plan()))

    assert isinstance(outcome.error, PlanInvalid) and "unknown worker 'cook'" in str(outcome.error)
    assert not endpoint.requests


async def test_a_task_that_waits_says_once_for_what(endpoint: Endpoint, settings: Settings) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks(DIAMOND, latency_s=0.05)))

    await start_run(settings)

    events = load_trace("one", settings)["events"]
    (waits,) = [event for event in events if event["kind"] == "awaiting"]
    assert (waits["task"], waits["worker"], waits["tasks"]) == ("C", "researcher", ["A", "B"])


async def test_a_context_chooses_one_step_after_another(
    endpoint: Endpoint, settings: Settings
) -> None:
    steps = [{"worker": "analyst", "reason": "First."}, {"is_done": True, "reason": "Enough."}]
    endpoint.load_scenario(Scenario(answers={"Decision": steps}))

    outcome = await start_run(settings, context={"strategy": "step"})

    assert outcome.status == "done"
    assert [report.worker for report in outcome.results.values()] == ["analyst"]
    assert len(endpoint.select_calls(schema="Decision")) == 2
