"""Routing, stepping and the generalist: other ways to a plan, one way to run it."""

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from graph import build_supervisor
from graph.runs.run_store import build_strict_serializer
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.telemetry.cost import count_extra_calls
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.teams import make_team

REQUEST = {"request": "Sort this list of 40 invoices by due date."}
NAMES = ("coder", "writer", "helper")


def build_graph(settings: Settings, **fields: Any) -> SupervisorGraph:
    saver = InMemorySaver(serde=build_strict_serializer())
    the_team = make_team(*NAMES, **{"generalist": "helper", **fields})
    return build_supervisor(the_team, settings=settings, checkpointer=saver)


def make_thread_config() -> Any:
    return {"configurable": {"thread_id": "one"}}


async def test_a_request_is_routed_to_one_worker_with_a_reason(
    endpoint: Endpoint, settings: Settings
) -> None:
    decision = {"worker": "coder", "reason": "It asks for code."}
    endpoint.load_scenario(Scenario(answers={"Decision": decision}))

    state = await build_graph(settings, strategy="route").ainvoke(REQUEST, make_thread_config())

    assert [call.schema for call in endpoint.requests] == ["Decision", "Report", "Answer"]
    assert [report.worker for report in state["results"].values()] == ["coder"]
    assert state["status"] == "done"


async def test_a_secondary_works_at_the_same_time(endpoint: Endpoint, settings: Settings) -> None:
    decision = {"worker": "coder", "secondary": "writer", "reason": "Both."}
    endpoint.load_scenario(Scenario(answers={"Decision": decision}, latency_s={"Report": 0.2}))

    state = await build_graph(settings, strategy="route").ainvoke(REQUEST, make_thread_config())

    assert sorted(state["results"]) == ["coder", "writer"]
    assert endpoint.max_in_flight == 2


async def test_a_request_that_needs_a_plan_costs_one_call_more_and_names_it(
    endpoint: Endpoint, settings: Settings
) -> None:
    decision = {"worker": "coder", "needs_plan": True, "reason": "The text needs the code."}
    tasks = (
        ScriptedTask(id="code", worker="coder"),
        ScriptedTask(id="text", worker="writer", depends_on=({"task": "code"},)),
    )
    endpoint.load_scenario(Scenario(answers={"Decision": decision}, tasks=tasks))

    state = await build_graph(settings, strategy="route", plan_when_needed=True).ainvoke(
        REQUEST, make_thread_config()
    )

    asked = [call.schema for call in endpoint.requests]
    assert asked == ["Decision", "Plan", "Report", "Report", "Answer"]
    assert "Result of code" in str(endpoint.select_calls(task="text")[0].body)
    assert state["status"] == "done"
    assert count_extra_calls(state["usage"]) == {"route": 1}


async def test_steps_follow_one_another_until_it_is_done(
    endpoint: Endpoint, settings: Settings
) -> None:
    decisions = [
        {"worker": "coder", "task": "Write a function that sorts invoices by due date."},
        {"worker": "writer", "task": "Describe the function in one paragraph."},
        {"is_done": True, "reason": "Both parts are there."},
    ]
    endpoint.load_scenario(Scenario(answers={"Decision": decisions}))

    state = await build_graph(settings, strategy="step").ainvoke(REQUEST, make_thread_config())

    asked = [call.schema for call in endpoint.requests]
    second = endpoint.select_calls(schema="Decision")[1]
    assert asked == ["Decision", "Report", "Decision", "Report", "Decision", "Answer"]
    assert [report.worker for report in state["results"].values()] == ["coder", "writer"]
    assert "Result of S1" in str(second.body) and "writer, helper" in str(second.body)
    assert "Result of S1" in str(endpoint.select_calls(task="S2")[0].body)
    assert len(state["plans"]) == 2


async def test_steps_that_never_end_stop_at_the_cap(endpoint: Endpoint, settings: Settings) -> None:
    again = {"worker": "coder", "task": "Sort the invoices once more."}
    endpoint.load_scenario(Scenario(answers={"Decision": again}))

    state = await build_graph(settings, strategy="step", max_steps=3).ainvoke(
        REQUEST, make_thread_config()
    )

    assert sorted(state["results"]) == ["S1", "S2", "S3"]
    assert state["status"] == "partial"
    assert any("a cap ended the run" in gap for gap in state["answer"].gaps)


async def test_a_supervisor_that_is_lost_midway_still_leads_to_an_answer(
    endpoint: Endpoint, settings: Settings
) -> None:
    first = {"worker": "coder", "task": "Sort the invoices."}
    lost = Fault(kind="unauthorized", schema="Decision", nth=(2, 3))  # of both models
    endpoint.load_scenario(Scenario(answers={"Decision": first}, faults=(lost,)))

    state = await build_graph(settings, strategy="step").ainvoke(REQUEST, make_thread_config())

    assert sorted(state["results"]) == ["S1"]
    assert state["status"] == "partial"
    assert any("no further step" in gap for gap in state["answer"].gaps)


async def test_an_unknown_worker_falls_to_the_generalist_after_the_repairs(
    endpoint: Endpoint, settings: Settings
) -> None:
    words = "Write A.md: name the three figures of part A and the source of each."
    plan = {"goal": "g", "tasks": [{"id": "A", "description": words, "worker": "cook"}]}
    endpoint.load_scenario(Scenario(answers={"Plan": plan}))

    state = await build_graph(settings).ainvoke(REQUEST, make_thread_config())

    assert len(endpoint.select_calls(schema="Plan")) == 3
    assert state["results"]["A"].worker == "helper"
