"""First model calls that begin while the plan is still being written."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from graph.runs.outcome import Outcome
from nodes.schemas.team import Team
from tests.endpoint import Fault, Scenario, ScriptedTask, script_tasks
from tests.runs import Runs
from tests.teams import make_team

CHUNK_DELAY_S = 0.03
PARTS = script_tasks({"A": (), "B": (), "C": ("A",)})
OTHER_WORDS = "Write A.md: name the four figures of part A and the page of each."
Event = Mapping[str, Any]


async def run_parts(
    runs: Runs,
    *tasks: ScriptedTask,
    team: Team | None = None,
    context: Mapping[str, Any] | None = None,
    **scenario: Any,
) -> tuple[Outcome, list[Event]]:
    """Run a request whose plan is streamed slowly; return its outcome and its events."""
    events: list[Event] = []
    runs.requests.clear()
    runs.script(*tasks or PARTS, **{"chunk_delay_s": CHUNK_DELAY_S, **scenario})
    outcome = await runs.run(
        team=team or make_team(), context=dict(context or {}), on_event=events.append
    )
    return outcome, events


def list_outcomes(events: list[Event], outcome: str) -> list[str]:
    """Return the tasks whose early call came to this, by name: calls at once have no order."""
    return sorted(
        e["task"] for e in events if e["kind"] == "speculated" and e["outcome"] == outcome
    )


def build_plan(*tasks: ScriptedTask) -> dict[str, Any]:
    return Scenario(tasks=tasks).build_plan()


def list_outputs(outcome: Outcome) -> dict[str, str]:
    return {name: report.output for name, report in outcome.results.items()}


async def test_free_tasks_begin_while_the_plan_is_written_and_their_calls_are_used(runs: Runs):
    outcome, events = await run_parts(runs)

    plan, *others = runs.requests
    early = [call for call in others if plan.ended_s and call.began_s < plan.ended_s]
    assert sorted(call.task for call in early) == ["A", "B"]
    assert len(runs.requests) == outcome.usage.model_calls == len(PARTS) + 2
    assert list_outcomes(events, "begun") == list_outcomes(events, "taken") == ["A", "B"]
    assert outcome.usage.by_mechanism == {"plan": 1, "work": 3, "synthesis": 1}


async def test_the_result_equals_that_of_a_run_without_early_calls(runs: Runs):
    early, _ = await run_parts(runs)
    plain, events = await run_parts(runs, context={"speculate": False})

    assert not [e for e in events if e["kind"] == "speculated"]
    assert list_outputs(early) == list_outputs(plain)
    assert early.answer == plain.answer
    assert early.usage.by_mechanism == plain.usage.by_mechanism


async def test_a_plan_whose_stream_breaks_off_is_asked_again_and_the_calls_are_used(runs: Runs):
    cut = Fault(kind="cut_stream", schema="Plan", nth=(1,), chunks=12)

    outcome, events = await run_parts(runs, faults=(cut,))

    assert outcome.status == "done"
    assert list_outcomes(events, "begun") == list_outcomes(events, "taken") == ["A", "B"]
    assert sorted(call.task for call in runs.select_calls("Report")) == ["A", "B", "C"]


def script_repair(latency_s: float) -> dict[str, Any]:
    """Script a plan that is refused, and whose repair changes the first of its tasks."""
    first, second = script_tasks({"A": (), "B": ()}, latency_s=latency_s)
    refused = build_plan(first, second, ScriptedTask(id="D", worker="unknown"))
    repaired = build_plan(replace(first, description=OTHER_WORDS), second)
    return {"tasks": (first, second), "answers": {"Plan": [refused, repaired]}}


@pytest.mark.parametrize(
    "latency_s",
    [pytest.param(0.0, id="ended"), pytest.param(2.0, id="still open", marks=pytest.mark.slow)],
)
async def test_p18_a_call_for_a_task_that_a_repair_changes_is_discarded_and_billed(
    runs: Runs, latency_s: float
):
    scripted = script_repair(latency_s)
    tasks = scripted.pop("tasks")

    outcome, events = await run_parts(runs, *tasks, context={"max_tokens": 1_000_000}, **scripted)
    early, *_ = runs.select_calls("Report", "A")
    plain, _ = await run_parts(runs, *tasks, context={"speculate": False}, **scripted)

    assert list_outcomes(events, "discarded") == ["A"] and list_outcomes(events, "taken") == ["B"]
    assert outcome.usage.by_mechanism["speculation"] == 1
    assert outcome.usage.model_calls == plain.usage.model_calls + 1
    assert outcome.usage.input_tokens > plain.usage.input_tokens
    assert outcome.status == plain.status == "done"
    assert list_outputs(outcome) == list_outputs(plain)
    assert early.client_gone == bool(latency_s)  # an open one is closed, and estimated
    assert outcome.usage.uncounted_calls == early.client_gone


def make_analyst_team() -> Team:
    team = make_team("analyst")
    workers = (team.workers[0].model_copy(update={"tools": ("calculate",)}),)
    return team.model_copy(update={"workers": workers})


async def test_a_worker_with_tools_begins_with_its_model_and_calls_tools_after_the_plan(runs: Runs):
    calls = (("calculate", {"expression": "6 * 7"}),)
    tasks = [ScriptedTask(id=name, worker="analyst", tool_calls=calls) for name in "AB"]

    outcome, events = await run_parts(runs, *tasks, team=make_analyst_team())

    kinds = [event["kind"] for event in events]
    assert list_outcomes(events, "taken") == ["A", "B"]
    assert kinds.count("tool_call") == 2
    assert kinds.index("plan_created") < kinds.index("tool_call")
    assert len(runs.requests) == outcome.usage.model_calls == 2 * len(tasks) + 2


async def test_a_call_that_fails_early_is_a_failed_attempt_like_any_other(runs: Runs):
    refused = Fault(kind="context_length", schema="Report", task="A", nth=(1,))

    outcome, events = await run_parts(runs, *script_tasks({"A": (), "B": ()}), faults=(refused,))

    assert outcome.status == "done" and list_outcomes(events, "taken") == ["A", "B"]


async def test_x01_a_cancelled_run_leaves_no_call_open_at_the_endpoint(runs: Runs):
    slow = [ScriptedTask(id=name, latency_s=60) for name in "AB"]
    late = ScriptedTask(id="C", description=" ".join([OTHER_WORDS] * 60))
    going = asyncio.ensure_future(run_parts(runs, *slow, late))
    await runs.wait_for_calls(began=3)

    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    await runs.wait_for_calls(began=3, ended=3)

    assert [call.schema for call in runs.requests] == ["Plan", "Report", "Report"]
    assert all(call.client_gone for call in runs.requests)


@pytest.mark.slow
async def test_a_plan_of_two_hundred_tasks_keeps_to_a_concurrency_of_sixteen(runs: Runs):
    tasks = script_tasks({f"t{number}": () for number in range(1, 201)})
    team = make_team(max_tasks=200, max_steps=400)

    outcome, events = await run_parts(
        runs,
        *tasks,
        team=team,
        context={"max_concurrency": 16, "max_tasks": 200},
        chunk_delay_s=0.0,
    )

    assert outcome.status == "done" and len(outcome.results) == len(tasks)
    assert runs.max_in_flight <= 16
    assert outcome.usage.model_calls == len(runs.requests)
    assert sorted(call.task for call in runs.select_calls("Report")) == sorted(
        task.id for task in tasks
    )
    assert len(list_outcomes(events, "begun")) == len(list_outcomes(events, "taken")) <= 32
