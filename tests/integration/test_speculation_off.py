"""Runs in which no model call begins before the plan is complete."""

from collections.abc import Mapping
from typing import Any

import pytest

from graph import arun
from graph.runs.outcome import Outcome
from graph.runs.plan_only import aplan
from graph.settings import Settings
from nodes.models.usage import get_model_speed
from supervisor_worker.testing.endpoint.faults import Face
from tests.endpoint import Fault, Scenario, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team

PARTS = script_tasks({"A": (), "B": ()})
PLANNER = "openai:gpt-5"


async def run_parts(runs: Runs, **options: Any) -> tuple[Outcome, list[Mapping[str, Any]]]:
    events: list[Mapping[str, Any]] = []
    outcome = await runs.run(on_event=events.append, **options)
    return outcome, [event for event in events if event["kind"] == "speculated"]


@pytest.fixture
def slow_plan(runs: Runs) -> Runs:
    """An endpoint that writes its plan slowly enough for tasks to begin early."""
    runs.script(*PARTS, chunk_delay_s=0.03)
    return runs


def list_streamed(runs: Runs) -> list[str]:
    return [call.schema for call in runs.requests if call.stream]


@pytest.mark.parametrize(
    "context",
    [{"approve_plan": True}, {"sequential": True}, {"speculate": False}, {"max_concurrency": 1}],
    ids=["plan approval", "one task at a time", "switched off for the run", "one call at a time"],
)
async def test_a_run_may_forbid_calls_before_its_plan(slow_plan: Runs, context: dict[str, Any]):
    outcome, speculated = await run_parts(slow_plan, context=context)

    assert outcome.status in ("done", "needs_input")
    assert not speculated and not list_streamed(slow_plan)


async def test_the_setting_switches_early_calls_off_and_a_run_switches_them_on(slow_plan: Runs):
    off = slow_plan.with_settings(speculate=False)

    _, without = await run_parts(off)
    _, asked_for = await run_parts(off, context={"speculate": True})

    assert not without and asked_for


async def test_the_environment_switches_early_calls_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SUPERVISE_SPECULATE", "off")

    assert Settings().speculate is False


async def test_a_plan_that_is_not_to_be_run_costs_the_planner_s_call_alone(slow_plan: Runs):
    plan = await aplan(REQUEST, team=make_team(), settings=slow_plan.settings)

    assert len(plan.tasks) == len(PARTS)
    assert [call.schema for call in slow_plan.requests] == ["Plan"]


async def test_nothing_is_begun_early_under_a_budget_near_its_end(slow_plan: Runs):
    _, speculated = await run_parts(slow_plan, context={"max_tokens": 0})

    assert not speculated and not slow_plan.select_calls("Report")


@pytest.mark.parametrize("max_tokens", [2_300, 2_400, 2_600])
async def test_what_the_planner_s_call_may_spend_refuses_no_task_that_begins_early(
    slow_plan: Runs, max_tokens: int
):
    early, _ = await run_parts(slow_plan, context={"max_tokens": max_tokens})
    plain, _ = await run_parts(slow_plan, context={"max_tokens": max_tokens, "speculate": False})

    assert early.status == plain.status == "partial"
    assert early.results["A"].status == plain.results["A"].status == "completed"


async def test_no_more_calls_begin_early_than_the_step_cap_allows_attempts(slow_plan: Runs):
    outcome, speculated = await run_parts(slow_plan, context={"max_steps": 1})

    assert [event["outcome"] for event in speculated] == ["begun", "taken"]
    assert len(slow_plan.select_calls("Report")) == 1 and outcome.status == "partial"


async def test_a_slow_model_is_left_to_write_its_plan(slow_plan: Runs):
    get_model_speed(f"openai {slow_plan.base_url}", PLANNER).record_answer(100, 100.0)

    outcome, speculated = await run_parts(slow_plan)

    assert outcome.status == "done" and not speculated


async def test_the_embedded_model_begins_nothing_early(settings: Settings):
    embedded = {f"model_{tier}": "embedded" for tier in ("fast", "standard", "strong")}
    events: list[Mapping[str, Any]] = []

    outcome = await arun(REQUEST, settings=settings, context=embedded, on_event=events.append)

    assert outcome.plan and not [event for event in events if event["kind"] == "speculated"]


@pytest.mark.parametrize("face", ["no_stream", "stream_as_json"])
async def test_h32_an_endpoint_that_does_not_stream_is_asked_to_stream_once(runs: Runs, face: Face):
    runs.script(*PARTS, faces=(face,))

    first, speculated = await run_parts(runs)
    second, _ = await run_parts(runs)

    assert first.status == second.status == "done" and not speculated
    assert first.answer == second.answer
    assert list_streamed(runs) == ["Plan"]
    assert first.usage.model_calls == second.usage.model_calls == len(PARTS) + 2


async def test_an_endpoint_whose_stream_breaks_off_is_asked_to_stream_again(runs: Runs):
    cut = Fault(kind="cut_stream", schema="Plan", nth=(1,), chunks=4)
    runs.script(*PARTS, chunk_delay_s=0.03, faults=(cut,))

    await run_parts(runs)

    assert list_streamed(runs) == ["Plan", "Plan"]


async def test_an_endpoint_that_refuses_an_option_of_streams_still_streams(runs: Runs):
    scenario = Scenario(tasks=PARTS, chunk_delay_s=0.03, faces=("no_stream_options",))
    runs.load_scenario(scenario)

    _, speculated = await run_parts(runs)

    assert speculated and list_streamed(runs) == ["Plan", "Plan"]
