"""First model calls that begin while the plan is still being written, and runs without them."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from graph import arun
from graph.runs.outcome import Outcome
from graph.runs.plan_only import aplan
from graph.settings import Settings
from nodes.models.usage import get_model_speed
from nodes.schemas.team import Team
from supervisor_worker.testing.endpoint.faults import Face
from tests.endpoint import Fault, Scenario, ScriptedTask, script_tasks
from tests.runs import REQUEST, Runs
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


async def test_a_plan_whose_stream_breaks_off_is_asked_again_and_the_calls_are_used(runs: Runs):
    cut = Fault(kind="cut_stream", schema="Plan", nth=(1,), chunks=12)

    outcome, events = await run_parts(runs, faults=(cut,))

    assert outcome.status == "done"
    assert list_streamed(runs) == ["Plan", "Plan"]
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
    assert list_outputs(outcome) == list_outputs(plain) and outcome.answer == plain.answer
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


PAIR = script_tasks({"A": (), "B": ()})
PLANNER = "openai:gpt-5"


async def run_and_listen(runs: Runs, **options: Any) -> tuple[Outcome, list[Mapping[str, Any]]]:
    events: list[Mapping[str, Any]] = []
    outcome = await runs.run(on_event=events.append, **options)
    return outcome, [event for event in events if event["kind"] == "speculated"]


@pytest.fixture
def slow_plan(runs: Runs) -> Runs:
    """An endpoint that writes its plan slowly enough for tasks to begin early."""
    runs.script(*PAIR, chunk_delay_s=0.03)
    return runs


def list_streamed(runs: Runs) -> list[str]:
    return [call.schema for call in runs.requests if call.stream]


@pytest.mark.parametrize(
    "context",
    [{"approve_plan": True}, {"sequential": True}, {"speculate": False}, {"max_concurrency": 1}],
    ids=["plan approval", "one task at a time", "switched off for the run", "one call at a time"],
)
async def test_a_run_may_forbid_calls_before_its_plan(slow_plan: Runs, context: dict[str, Any]):
    outcome, speculated = await run_and_listen(slow_plan, context=context)

    assert outcome.status in ("done", "needs_input")
    assert not speculated and not list_streamed(slow_plan)


async def test_the_setting_switches_early_calls_off_and_a_run_switches_them_on(slow_plan: Runs):
    off = slow_plan.with_settings(speculate=False)

    _, without = await run_and_listen(off)
    _, asked_for = await run_and_listen(off, context={"speculate": True})

    assert not without and asked_for


async def test_a_plan_that_is_not_to_be_run_costs_the_planner_s_call_alone(slow_plan: Runs):
    plan = await aplan(REQUEST, team=make_team(), settings=slow_plan.settings)

    assert len(plan.tasks) == len(PAIR)
    assert [call.schema for call in slow_plan.requests] == ["Plan"]


async def test_nothing_is_begun_early_under_a_budget_near_its_end(slow_plan: Runs):
    _, speculated = await run_and_listen(slow_plan, context={"max_tokens": 0})

    assert not speculated and not slow_plan.select_calls("Report")


@pytest.mark.parametrize("max_tokens", [2_300, 2_600])
async def test_what_the_planner_s_call_may_spend_refuses_no_task_that_begins_early(
    slow_plan: Runs, max_tokens: int
):
    early, _ = await run_and_listen(slow_plan, context={"max_tokens": max_tokens})
    plain, _ = await run_and_listen(
        slow_plan, context={"max_tokens": max_tokens, "speculate": False}
    )

    assert early.status == plain.status == "partial"
    assert early.results["A"].status == plain.results["A"].status == "completed"


async def test_no_more_calls_begin_early_than_the_step_cap_allows_attempts(slow_plan: Runs):
    outcome, speculated = await run_and_listen(slow_plan, context={"max_steps": 1})

    assert [event["outcome"] for event in speculated] == ["begun", "taken"]
    assert len(slow_plan.select_calls("Report")) == 1 and outcome.status == "partial"


async def test_a_slow_model_is_left_to_write_its_plan(slow_plan: Runs):
    get_model_speed(f"openai {slow_plan.base_url}", PLANNER).record_answer(100, 100.0)

    outcome, speculated = await run_and_listen(slow_plan)

    assert outcome.status == "done" and not speculated


async def test_the_embedded_model_begins_nothing_early(settings: Settings):
    embedded = {f"model_{tier}": "embedded" for tier in ("fast", "standard", "strong")}
    events: list[Mapping[str, Any]] = []

    how: Any = {"settings": settings, "on_event": events.append}
    outcome = await arun(REQUEST, team=make_team(), context=embedded, **how)

    assert outcome.plan and not [event for event in events if event["kind"] == "speculated"]


@pytest.mark.parametrize("face", ["no_stream", "stream_as_json"])
async def test_h32_an_endpoint_that_does_not_stream_is_asked_to_stream_once(runs: Runs, face: Face):
    runs.script(*PAIR, faces=(face,))

    first, speculated = await run_and_listen(runs)
    second, _ = await run_and_listen(runs)

    assert first.status == second.status == "done" and not speculated
    assert first.answer == second.answer
    assert list_streamed(runs) == ["Plan"]
    assert first.usage.model_calls == second.usage.model_calls == len(PAIR) + 2
