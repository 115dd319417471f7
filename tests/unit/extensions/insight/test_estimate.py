"""The estimate in the application: what it rests on, and what cannot harm it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.store.memory import InMemoryStore

from extensions.insight.calibration import measure_calibration
from extensions.insight.estimate import estimate_run
from extensions.insight.history import (
    MAX_TASKS,
    build_place,
    load_values,
    read_runs,
    save_run,
)
from extensions.replay.runs import areplay
from graph.runs.outcome import Outcome
from graph.runs.plan_only import aplan_with_estimate
from graph.runs.run_store import build_run_store
from graph.settings import Settings
from state import Estimate
from tests.endpoint import Fault, ScriptedTask, script_tasks
from tests.runs import REQUEST, Runs
from tests.screen import CapturedScreen
from tests.teams import make_team
from tests.unit.extensions.insight.estimated_runs import make_history, plan_run, plan_task

pytestmark = pytest.mark.needs("insight")

PLAN = script_tasks({"A": (), "B": ("A",)})


async def run_team(runs: Runs, name: str = "trio", **options: Any) -> Outcome:
    return await runs.run(team=make_team(name=name), **options)


def get_estimate(outcome: Outcome) -> Estimate:
    assert outcome.usage.estimate is not None
    return outcome.usage.estimate


async def read_kept(settings: Settings) -> list[Any]:
    async with build_run_store(settings) as store:
        return list(await load_values(store, build_place({})))


async def test_the_first_run_is_estimated_by_constants_and_the_next_ones_by_those_before(
    runs: Runs,
) -> None:
    runs.script(*PLAN, latency_s={"*": 0.02})

    outcomes = [await run_team(runs) for _ in range(4)]
    planned = await aplan_with_estimate(REQUEST, team=make_team(), settings=runs.settings)

    first, *_, last = map(get_estimate, outcomes)
    assert (first.runs, last.runs, planned[1].runs) == (0, 3, 4)
    assert not first.simulated and first.low and first.high
    assert abs(last.seconds - outcomes[-1].timing["wall_s"]) < abs(first.seconds - 0.5)
    assert last.low and last.high and last.low.seconds < last.high.seconds
    assert last.high.seconds < first.high.seconds
    shown = json.loads(json.dumps(outcomes[-1].to_json()))["usage"]["estimate"]
    assert shown["models"]["strong"] and set(shown["low"]) == set(shown["high"])


async def test_a_run_keeps_what_each_task_took(runs: Runs) -> None:
    failed = {"status": "failed", "output": "no source"}
    again = ScriptedTask(id="A", report=[failed, {"output": "A costs 42 euros."}])
    runs.script(again, *PLAN[1:])

    outcome = await run_team(runs)

    [run] = read_runs(await read_kept(runs.settings))
    answer, first, second = run.tasks
    assert (answer.worker, answer.calls) == ("", 1)
    assert first.calls > second.calls == 1 and first.version and first.model
    assert run.fact.model_calls == outcome.usage.model_calls
    assert run.fact.seconds == outcome.timing["wall_s"]
    assert run.expected == get_estimate(outcome)


async def test_runs_at_the_same_time_are_all_kept(runs: Runs) -> None:
    runs.script(*PLAN)

    await asyncio.gather(*(run_team(runs) for _ in range(4)))

    assert len(read_runs(await read_kept(runs.settings))) == 4


async def test_another_team_borrows_errors_but_is_not_the_team(runs: Runs) -> None:
    runs.script(*PLAN)

    await run_team(runs)
    other = get_estimate(await run_team(runs, "quartet"))

    assert other.runs == 0 and other.simulated


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        {"team": "trio"},
        {"at": -1.0},
        {"at": 1e308},
        {"fact": {"seconds": 1e308}},
        {"fact": {"model_calls": -5}},
        {"fact": {"cost_usd": float("nan")}},
        {"fact": {"cost_usd": float("inf")}},
        {"fact": {"model_calls": 10**400}},
        {"tasks": "x"},
        {"tasks": [{}] * (MAX_TASKS + 1)},
        {"expected": {"simulated": {"seconds": [-1.0, float("nan"), 1e308]}}},
    ],
)
def test_what_is_damaged_or_cannot_be_true_does_not_count(damaged: Any) -> None:
    good = make_history(3)[-1].model_dump(mode="json")
    is_object = isinstance(damaged, dict)
    parts = {
        name: {**good[name], **part} if isinstance(part, dict) else part
        for name, part in (damaged.items() if is_object else ())
    }
    entry = {**good, **parts} if is_object and "team" not in damaged else damaged

    assert [run.team for run in read_runs([entry, good])] == ["t"]


def test_a_run_of_the_future_counts_as_the_newest_and_the_estimate_stays_finite() -> None:
    runs = make_history(30)
    late = runs[0].model_copy(update={"at": 9e11})

    ordered = read_runs(run.model_dump(mode="json") for run in (late, *runs[1:]))
    found = estimate_run(ordered, plan_run(), Estimate())

    assert ordered[-1].at == 9e11
    assert found.low and found.high and 0 < found.low.seconds < found.high.seconds < 1e4


def make_user_config(user: str) -> RunnableConfig:
    return {"configurable": {"langgraph_auth_user_id": user, "thread_id": "one"}}


async def test_each_user_of_a_server_has_a_history_of_their_own() -> None:
    store, [run] = InMemoryStore(), make_history(1)
    anna, bob = map(make_user_config, ("a.b@c", "bob"))

    for number in (1, 1, 2):
        await save_run(store, anna, run, number)

    own, others, no_user = map(build_place, (anna, bob, RunnableConfig()))
    assert len(await load_values(store, own)) == 2
    assert not await load_values(store, others) and not await load_values(store, no_user)
    assert not any("." in part for part in own)


class BrokenStore(InMemoryStore):
    """A store whose disk is full."""

    async def aput(self, namespace: tuple[str, ...], *args: Any, **options: Any) -> None:
        """Fail for estimates."""
        if namespace[0].startswith("#"):
            raise OSError("no space left on device")
        await super().aput(namespace, *args, **options)

    async def asearch(self, namespace: tuple[str, ...], /, **options: Any) -> Any:
        """Fail for estimates."""
        if namespace[0].startswith("#"):
            raise OSError("input/output error")
        return await super().asearch(namespace, **options)


async def test_a_store_that_fails_leaves_the_constants_and_the_run_as_they_are(runs: Runs) -> None:
    runs.script(*PLAN)
    graph = runs.build_graph(store=BrokenStore())

    state = await graph.ainvoke({"request": REQUEST})

    assert state["status"] == "done"
    assert state["usage"].estimate.runs == 0 and state["usage"].estimate.low


async def test_a_replay_has_the_estimate_of_the_record(runs: Runs) -> None:
    runs.script(*PLAN)
    await run_team(runs)
    made = await run_team(runs, thread="one")
    await run_team(runs)

    replayed = await areplay("one", settings=runs.settings)

    assert replayed.is_equal
    assert replayed.outcome.usage.estimate == get_estimate(made)


async def test_a_failed_run_of_an_endpoint_that_is_down_keeps_nothing(runs: Runs) -> None:
    runs.script(*PLAN, faults=(Fault(kind="unauthorized", schema="Plan"),))

    outcome = await run_team(runs)

    assert outcome.error and not await read_kept(runs.settings)


@pytest.mark.xdist_group("histories")
def test_a_plan_of_a_thousand_tasks_has_an_estimate() -> None:
    runs, tasks = make_history(40), [plan_task()] * 1000

    found = estimate_run(runs, plan_run(*tasks, at_once=16), Estimate())

    assert found.model_calls == pytest.approx(1001, rel=0.05)


@pytest.mark.xdist_group("histories")
def test_calibration_counts_hits_and_says_when_there_are_too_few() -> None:
    few, many = make_history(5), make_history(60, team="other")

    measured = measure_calibration([*few, *many])

    assert measured["teams"]["t"]["is_enough"] is False
    assert measured["teams"]["other"]["is_enough"] and measured["runs"] == 4 + 59
    assert 0.8 < measured["amounts"]["seconds"]["held"] <= 1
    assert measured["first_runs"] == 2


def test_the_command_prints_a_table_or_one_object(
    supervise: CapturedScreen, tmp_path: Path
) -> None:
    assert supervise("calibration") == 0 and "no run has ended" in supervise.out
    assert supervise("calibration", "--json") == 0 and json.loads(supervise.out)["runs"] == 0
    assert not list(tmp_path.rglob("*.sqlite"))
