"""What attempts that were cut off had spent is in the resumed run's bill, and under its caps."""

import asyncio
from typing import Any

import pytest

from graph import arun
from graph.runs.outcome import Outcome
from nodes.limits.budget import ANSWER_SHARE
from nodes.models.call import EXPECTED_OUTPUT_TOKENS
from tests.endpoint import Fault, Scenario, ScriptedTask, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team

pytestmark = pytest.mark.slow

NO_PLAN = {"goal": "g", "tasks": []}
SUM = (("calculate", {"expression": "6 * 7"}),)


def make_analyst_team() -> Any:
    made = make_team("analyst").workers[0].model_copy(update={"tools": ("calculate",)})
    return make_team("analyst").model_copy(update={"workers": (made,)})


async def cancel_after_calls(runs: Runs, going: Any, *, began: int) -> None:
    """Cancel a run when so many calls have reached the endpoint."""
    running = asyncio.ensure_future(going)
    await runs.wait_for_calls(began=began)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


def count_logged_calls(runs: Runs) -> int:
    events = runs.load_trace("one")["events"]
    return sum(event["kind"] == "model_call" for event in events)


async def start_run(runs: Runs, **options: Any) -> Outcome:
    given = {"team": make_analyst_team(), "settings": runs.settings, "thread": "one", **options}
    return await arun(REQUEST, **given)


def script_slow_second_turn() -> Scenario:
    """Play a task whose second turn can be cut off."""
    task = ScriptedTask(id="A", worker="analyst", tool_calls=SUM, latency_s=1.0)
    return Scenario(tasks=(task,))


async def test_what_a_cut_off_attempt_had_spent_is_billed_after_each_resume(runs: Runs):
    runs.load_scenario(script_slow_second_turn())
    await cancel_after_calls(runs, start_run(runs), began=3)
    await cancel_after_calls(runs, runs.resume("one"), began=4)

    outcome = await runs.resume("one")
    again = await runs.resume("one")

    assert outcome.status == "done"
    assert outcome.usage.model_calls == count_logged_calls(runs) == 4
    assert outcome.usage.by_mechanism["cut off"] == 1
    assert outcome.usage.by_tier["standard"].model_calls == 3
    assert again.usage == outcome.usage
    assert runs.load_trace("one")["usage"] == outcome.usage.model_dump(mode="json")


async def test_work_that_is_done_again_is_billed_twice(runs: Runs):
    runs.load_scenario(script_slow_second_turn())
    await start_run(runs)
    runs.settings.resolve_database_path().unlink()

    outcome = await runs.resume("one")

    assert outcome.usage.model_calls == count_logged_calls(runs) == 8
    assert outcome.usage.by_mechanism["cut off"] == 4


async def test_what_was_cut_off_counts_under_the_caps(runs: Runs):
    runs.load_scenario(script_slow_second_turn())
    await cancel_after_calls(runs, start_run(runs, context={"max_tokens": 100_000}), began=3)
    events = runs.load_events()
    plan, turn = (event for event in events if event["kind"] == "model_call")

    outcome = await runs.resume("one", context={"max_tokens": compute_room(plan, turn)})

    assert (outcome.status, outcome.exit_code) == ("failed", 3)
    assert not any(call.task for call in runs.requests[3:])


async def test_a_plan_that_came_to_nothing_counts_under_the_caps(runs: Runs):
    refused = Fault(kind="unauthorized", schema="Plan", nth=(2, 3))
    runs.script(answers={"Plan": NO_PLAN}, faults=(refused,))
    await start_run(runs, team=make_team(max_plan_repairs=1))
    events = runs.load_events()
    plan = next(event for event in events if event["kind"] == "model_call")
    before = len(runs.requests)

    outcome = await runs.resume("one", context={"max_tokens": compute_room(plan)})

    assert outcome.error is not None and outcome.error.code == "BUDGET_SPENT"
    assert len(runs.requests) == before


def compute_room(*calls: Any) -> int:
    """Return a cap that would let the last call be made again, were it not for what it has cost."""
    spent = sum(call["input_tokens"] + call["output_tokens"] for call in calls)
    return int((spent + EXPECTED_OUTPUT_TOKENS * 1.4) / (1 - ANSWER_SHARE))


async def test_a_plan_that_was_paid_for_twice_is_billed_twice(runs: Runs):
    plan = Scenario(tasks=script_tasks({"A": ()})).build_plan()
    scenario = Scenario(tasks=script_tasks({"A": ()}), answers={"Plan": [NO_PLAN, NO_PLAN, plan]})
    refused = Fault(kind="unauthorized", schema="Plan", nth=(2, 3))
    runs.script(*scenario.tasks, answers=scenario.answers, faults=(refused,))
    made = make_team(max_plan_repairs=1)

    failed = await start_run(runs, team=made)
    resumed = await runs.resume("one")

    paid = [call for call in runs.requests if not call.fault]
    assert failed.usage.model_calls == 1
    assert resumed.status == "done"
    assert resumed.usage.model_calls == len(paid)
    assert resumed.usage.by_mechanism["cut off"] == 1


async def test_a_follow_up_is_not_billed_for_the_request_before_it(runs: Runs):
    runs.load_scenario(script_slow_second_turn())
    await cancel_after_calls(runs, start_run(runs), began=3)
    await runs.resume("one")

    outcome = await runs.run("And in euros?", team=make_analyst_team(), thread="one")

    assert outcome.usage.model_calls == 4
    assert "cut off" not in outcome.usage.by_mechanism
