"""Simulated runs: what tasks draw from, the order of a plan, and the limits of a run."""

from random import Random
from typing import Any

import pytest

from extensions.insight.history import DoneRun, DoneTask
from extensions.insight.simulation import Past, PlannedRun, PlannedTask, simulate
from state import Amounts, Estimate
from tests.unit.extensions.insight.estimated_runs import MODEL, finish_task, plan_run, plan_task

pytestmark = pytest.mark.needs("insight")


def make_past(*tasks: DoneTask, runs: int = 60) -> list[DoneRun]:
    """Return runs that all took the same."""
    fields: dict[str, Any] = {"team": "t", "at": 0, "status": "done"}
    amounts = {"expected": Estimate(), "fact": Amounts()}
    return [DoneRun(tasks=(finish_task("", 0.0), *tasks), **fields, **amounts)] * runs


def simulate_seconds(planned: PlannedRun, runs: list[DoneRun]) -> float:
    return simulate(planned, Past(runs, "t", 0.0), Random(1))["seconds"][1]


def test_tasks_that_need_each_other_take_the_sum_and_others_the_longest() -> None:
    past = make_past(finish_task(seconds=10.0))
    chain = [plan_task(), plan_task(needs=(0,)), plan_task(needs=(1,))]

    assert simulate_seconds(plan_run(*chain), past) == pytest.approx(30, abs=1)
    assert simulate_seconds(plan_run(*[plan_task()] * 3), past) == pytest.approx(10, abs=1)


def test_more_tasks_than_places_wait_for_a_place() -> None:
    past = make_past(finish_task(seconds=10.0))

    assert simulate_seconds(plan_run(*[plan_task()] * 6, at_once=2), past) == pytest.approx(30, 0.1)


def test_a_plan_without_history_takes_what_the_constants_say() -> None:
    found = simulate(plan_run(), Past([], "t", 0.0), Random(1))

    low, middle, high = found["seconds"]
    assert low < middle < high and 5 < middle < 20
    assert found["input_tokens"][1] == pytest.approx(2_000, rel=0.2)


@pytest.mark.parametrize(
    ("task", "share"),
    [
        (plan_task(), 0.9),
        (plan_task(version="v2"), 0.9),
        (plan_task(worker="other"), 0.9),
        (plan_task(model="openai:other"), 0.0),
        (plan_task(worker="other", uses_tools=True), 0.0),
    ],
)
def test_tasks_are_like_those_of_the_worker_then_of_the_model(
    task: PlannedTask, share: float
) -> None:
    past = Past(make_past(finish_task()), "t", 0.0)

    found = past.choose(task, 1, 500, Random(1))

    assert sum(each is not None for each in found) / 500 >= share
    assert share or not any(found)


def test_few_tasks_of_the_past_count_less_than_many() -> None:
    few, many = (Past(make_past(finish_task(), runs=n), "t", 0.0) for n in (1, 40))

    shares = [
        sum(each is not None for each in past.choose(plan_task(), 1, 500, Random(1))) / 500
        for past in (few, many)
    ]

    assert shares[0] < shares[1]


def test_a_deadline_cuts_what_would_run_beyond_it() -> None:
    past = make_past(finish_task(seconds=10.0))
    chain = [plan_task(), plan_task(needs=(0,)), plan_task(needs=(1,))]

    found = simulate(plan_run(*chain, deadline_s=15.0), Past(past, "t", 0.0), Random(1))

    assert found["seconds"][1] == pytest.approx(15, abs=1)
    assert found["model_calls"][1] == pytest.approx(2.5, abs=0.2)


@pytest.mark.parametrize(
    ("cap", "calls"),
    [({"max_steps": 2}, 3), ({"max_tokens": 2_000}, 3), ({"max_cost_usd": 0.0031}, 3)],
)
def test_a_cap_ends_the_work_and_the_answer_is_still_written(
    cap: dict[str, Any], calls: int
) -> None:
    past = Past(make_past(finish_task()), "t", 0.0)

    found = simulate(plan_run(*[plan_task()] * 8, **cap), past, Random(1))

    assert found["model_calls"][1] == calls


def test_requests_per_minute_hold_a_run_back() -> None:
    past = make_past(finish_task(seconds=1.0))
    tasks = [plan_task()] * 10

    assert simulate_seconds(plan_run(*tasks, requests_per_minute=4), past) > 100
    assert simulate_seconds(plan_run(*tasks, tokens_per_minute=2_000), past) > 100


def test_a_price_that_is_not_known_has_no_cost() -> None:
    nameless = plan_task(price=plan_task().price._replace(read=float("nan")))

    assert "cost_usd" not in simulate(plan_run(nameless), Past([], "t", 0.0), Random(1))


def test_the_same_plan_and_past_give_the_same_numbers() -> None:
    past = Past(make_past(finish_task(), finish_task(seconds=40.0)), "t", 0.0)
    planned = plan_run(plan_task(), plan_task())

    assert simulate(planned, past, Random(1)) == simulate(planned, past, Random(1))
    assert MODEL in {task.model for task in planned.tasks}
