"""Reports that are not as planned: reviewed at once, and the plan revised beside running tasks."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from tests.benchmarks.kills import run_trial
from tests.endpoint import ScriptedTask
from tests.runs import Runs
from tests.teams import make_team

REQUEST = "Find the bug, propose a fix and draft a note about it."
NO_BUG = {
    "status": "completed",
    "output": "No bug found in the code. This looks like a configuration issue: gateway.timeout_s.",
    "confidence": 90,
    "found_as_expected": False,
}
NOTE = "Draft note.md for the customers: describe the bug in the code and its fix."
SETTING = "Set gateway.timeout_s in gateway.yaml to the value of the manual."
SENSELESS = {"makes_sense": False, "reason": "There is no bug; a setting is wrong."}


def make_plan(*tasks: ScriptedTask) -> dict[str, Any]:
    return {"goal": "Find the bug.", "tasks": [task.to_plan_task() for task in tasks]}


CODE = ScriptedTask(id="code", report=NO_BUG, latency_s=0.3)
COMMS = ScriptedTask(id="comms", worker="writer", depends_on=("code",), description=NOTE)
OPS = ScriptedTask(id="ops", worker="analyst", description=SETTING)
COUNT = ScriptedTask(id="count", worker="analyst", latency_s=1.5)
TOTAL = ScriptedTask(id="total", worker="analyst", depends_on=("count",))


async def play(
    runs: Runs,
    first: Sequence[ScriptedTask],
    second: Sequence[ScriptedTask],
    *,
    review: Mapping[str, Any] = SENSELESS,
    check: Mapping[str, Any] | None = None,
    latency_s: Mapping[str, float] | None = None,
    context: Mapping[str, Any] | None = None,
    **fields: Any,
) -> tuple[Any, list[dict[str, Any]]]:
    known = {task.id: task for task in (*first, *second)}
    runs.script(
        *tuple(known.values()),
        answers={
            "Plan": [make_plan(*first), *([make_plan(*second)] if second else [])],
            "PlanReview": review,
            "TaskCheck": check or {},
        },
        latency_s=latency_s or {},
    )
    team = make_team(**fields)
    outcome = await runs.run(REQUEST, team=team, thread="one", context=context)
    return outcome, runs.load_events()


@pytest.mark.slow
async def test_a_revision_cannot_remove_what_is_at_work(runs: Runs):
    outcome, _ = await play(runs, (CODE, COUNT, COMMS), (CODE, OPS))

    assert outcome.results["count"].status == "completed"
    assert "count" in [task.id for task in outcome.plan.tasks]


@pytest.mark.slow
async def test_a_task_may_change_under_its_id_while_others_are_at_work(runs: Runs):
    other = ScriptedTask(id="comms", worker="writer", description="Write note.md on the setting.")

    outcome, _ = await play(runs, (CODE, COUNT, COMMS), (CODE, COUNT, other))

    asked = [call for call in runs.select_calls(schema="Report") if call.task == "comms"]
    assert len(asked) == 1 and "on the setting" in str(asked[0].body)
    assert outcome.status == "done"


async def test_a_plan_that_still_makes_sense_costs_one_cheap_call_and_stays(runs: Runs):
    outcome, _ = await play(runs, (CODE, COMMS), (CODE, OPS), review={"makes_sense": True})

    assert set(outcome.results) == {"code", "comms"}
    assert outcome.usage.by_mechanism == {
        "plan": 1,
        "work": 2,
        "plan review": 1,
        "synthesis": 1,
    }
    (call,) = runs.select_calls(schema="PlanReview")
    assert f"openai:{call.model}" == runs.settings.model_fast


async def test_a_run_of_one_task_at_a_time_is_reviewed_like_any_other(runs: Runs):
    outcome, _ = await play(runs, (CODE, COMMS), (CODE, OPS), context={"sequential": True})

    assert outcome.status == "done" and set(outcome.results) == {"code", "ops"}
    assert outcome.usage.by_mechanism["plan review"] == 1


async def test_a_run_of_one_task_at_a_time_that_is_as_planned_costs_no_review(runs: Runs):
    whole = f"{REQUEST} Use what ops found."
    parts = (OPS, ScriptedTask(id="sum", depends_on=("ops",), description=whole))

    outcome, _ = await play(runs, parts, parts, context={"sequential": True})

    assert outcome.status == "done"
    assert outcome.usage.by_mechanism == {"plan": 1, "work": 2, "synthesis": 1}


class FailingSaver(InMemorySaver):
    """Saves nothing more once the monitor has held the waiting tasks, until it is repaired."""

    is_broken = False
    is_repaired = False

    async def aput(self, *given: Any, **more: Any) -> RunnableConfig:
        self._require_power()
        return await super().aput(*given, **more)

    async def aput_writes(self, *given: Any, **more: Any) -> None:
        self._require_power()
        await super().aput_writes(*given, **more)
        written = {name for name, _ in given[1]}
        self.is_broken = self.is_broken or {"doubts", "branch:to:supervisor"} <= written

    def _require_power(self) -> None:
        if self.is_broken and not self.is_repaired:
            raise OSError("no power")


async def test_what_the_monitor_held_does_not_start_after_a_crash(runs: Runs):
    tasks = (CODE, COMMS, OPS)
    plans = [make_plan(CODE, COMMS), make_plan(CODE, OPS)]
    runs.script(*tasks, answers={"Plan": plans, "PlanReview": SENSELESS})
    saver, config = FailingSaver(), RunnableConfig(configurable={"thread_id": "one"})
    with pytest.raises(OSError, match="no power"):
        await runs.build_graph(checkpointer=saver).ainvoke({"request": REQUEST}, config)
    saver.is_repaired = True

    resumed = runs.build_graph(checkpointer=saver)
    state = await resumed.ainvoke(None, config)

    assert state["status"] == "done" and set(state["results"]) == {"code", "ops"}
    assert len(runs.select_calls(schema="PlanReview")) == 1


async def test_two_surprises_at_once_lead_to_another_plan(runs: Runs):
    void = {"output": "x", "found_as_expected": False}
    first = ScriptedTask(id="first", report=void, latency_s=0.3)
    second = ScriptedTask(id="second", report=void, latency_s=0.3)
    rest = ScriptedTask(id="rest", depends_on=("first", "second"))

    outcome, events = await play(runs, (first, second, rest), (first, second, OPS))

    assert sum(event["kind"] == "plan_revised" for event in events) in (1, 2)
    assert outcome.results["ops"].status == "completed" and "rest" not in outcome.results


async def test_a_task_that_fails_for_good_leads_to_another_plan(runs: Runs):
    failing = ScriptedTask(id="code", report={"status": "failed", "output": "no access"})
    around = ScriptedTask(id="code", report={"status": "failed", "output": "no access"})

    outcome, _ = await play(runs, (failing, COMMS), (around, OPS), max_attempts=1, ladder=())

    assert outcome.results["ops"].status == "completed" and "comms" not in outcome.results


async def test_a_failed_review_leaves_the_plan_as_it_is(runs: Runs):
    outcome, events = await play(
        runs, (CODE, COMMS), (CODE, OPS), review={"makes_sense": "perhaps"}
    )

    (reviewed,) = [event for event in events if event["kind"] == "plan_reviewed"]
    assert "could not be read" in reviewed["remark"]
    assert set(outcome.results) == {"code", "comms"}


SILENT = ScriptedTask(id="code", report={**NO_BUG, "found_as_expected": None}, latency_s=0.3)


async def test_a_report_that_does_not_say_what_it_found_costs_a_small_call(runs: Runs):
    outcome, events = await play(runs, (SILENT, COMMS), (SILENT, OPS), check={"is_found": False})

    assert outcome.status == "done" and set(outcome.results) == {"code", "ops"}
    counts = outcome.usage.by_mechanism
    assert (counts["surprise check"], counts["plan review"], counts["revision"]) == (1, 1, 1)
    (call,) = runs.select_calls(schema="TaskCheck")
    assert f"openai:{call.model}" == runs.settings.model_fast and "part code" in str(call.body)
    assert "surprise check" in [each.get("purpose") for each in events]
    (reviewed,) = [event for event in events if event["kind"] == "plan_reviewed"]
    assert "says the fast tier" in reviewed["reports"]["code"]


@pytest.mark.parametrize(
    ("report", "fields"),
    [
        ({"found_as_expected": True}, {}),
        ({"found_as_expected": None}, {"max_plan_reviews": 0}),
        ({"found_as_expected": None}, {"max_revisions": 0}),
    ],
)
async def test_nothing_is_checked_that_is_said_or_can_change_nothing(
    runs: Runs, report: dict[str, Any], fields: dict[str, Any]
):
    code = ScriptedTask(id="code", report={**NO_BUG, **report})

    outcome, _ = await play(runs, (code, COMMS), (code, OPS), **fields)

    assert outcome.usage.by_mechanism == {"plan": 1, "work": 2, "synthesis": 1}


async def test_no_report_is_checked_that_nothing_waits_for(runs: Runs):
    count = ScriptedTask(id="count", worker="analyst")

    outcome, _ = await play(runs, (SILENT, count, TOTAL), ())

    assert outcome.usage.by_mechanism == {"plan": 1, "work": 3, "synthesis": 1}


async def test_checks_end_at_their_cap(runs: Runs, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nodes.monitor.MAX_SURPRISE_CHECKS", 1)
    other = ScriptedTask(id="other", report=SILENT.report)
    rest = ScriptedTask(id="rest", depends_on=("code", "other"))

    outcome, _ = await play(runs, (SILENT, other, rest), (), check={"is_found": True})

    assert outcome.usage.by_mechanism["surprise check"] == 1


@pytest.mark.slow
async def test_a_report_that_comes_while_the_plan_is_judged_is_read_before_anything_starts(
    runs: Runs,
):
    void = {"output": "x", "found_as_expected": False}
    late = ScriptedTask(id="late", report=void, latency_s=0.9)
    after = ScriptedTask(id="after", depends_on=("late",))

    outcome, _ = await play(
        runs,
        (CODE, COUNT, late, after, COMMS),
        (CODE, COUNT, late, OPS),
        latency_s={"PlanReview": 1.0, "Plan": 0.1},
    )

    assert outcome.status == "done" and "after" not in outcome.results
    assert not runs.select_calls(schema="Report", task="after")


@pytest.mark.slow
async def test_revisions_that_fail_end_with_the_stall_counter(runs: Runs):
    void = {"output": "x", "found_as_expected": False}
    objecting = [
        ScriptedTask(id=f"v{number}", report=void, latency_s=0.3 * (number + 1))
        for number in range(5)
    ]
    first = (*objecting, COUNT, TOTAL)
    known = {task.id: task for task in first}
    empty = {"goal": "x", "tasks": []}
    answers = {"Plan": [make_plan(*first), empty], "PlanReview": SENSELESS}
    runs.script(*tuple(known.values()), answers=answers)

    team = make_team(max_plan_repairs=0)
    outcome = await runs.run(REQUEST, team=team, thread="one")

    assert outcome.usage.by_mechanism["revision"] == 2
    assert all(report.status == "completed" for report in outcome.results.values())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(3, marks=pytest.mark.nightly)])
async def test_a_run_killed_while_its_plan_is_revised_ends_right(seed: int):
    found = await asyncio.to_thread(run_trial, seed, is_plan_revised=True)

    assert found.is_right, found.output
    assert found.run_again == 0
