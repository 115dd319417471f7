"""Intervals: how often they hold, how they follow a drift, and what odd runs do to them."""

import random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.insight.conformal import (
    Score,
    adapt_misses,
    choose_interval,
    find_quantile,
    find_shift,
    is_inside,
)
from extensions.insight.history import AMOUNTS, DoneRun
from tests.unit.extensions.insight.estimated_runs import finish_run, make_history, plan_run

# One process makes the histories once.
pytestmark = [pytest.mark.needs("insight"), pytest.mark.xdist_group("histories")]


@given(
    st.lists(st.floats(0, 100), min_size=1, max_size=60),
    st.floats(0.5, 0.99),
)
def test_a_quantile_is_one_of_the_scores_range_and_rises_with_the_level(
    sizes: list[float], level: float
) -> None:
    scores = [Score(size, 1.0) for size in sizes]

    found = find_quantile(scores, level)

    assert 0 <= found <= max(sizes)
    assert find_quantile(scores, level / 2) <= found


def test_a_quantile_of_few_scores_counts_the_next_run_too() -> None:
    scores = [Score(float(size), 1.0) for size in range(1, 10)]

    assert find_quantile(scores, 0.9) == pytest.approx(9)
    assert find_quantile(scores, 0.5) == pytest.approx(5)


@pytest.mark.slow
def test_nine_of_ten_intervals_hold() -> None:
    counted = make_history(300)[30:]

    for amount in ("output_tokens", "cost_usd", "seconds"):
        assert 0.85 < mean(is_inside(amount, run) for run in counted) < 0.95


def test_intervals_hold_again_after_everything_became_twice_as_slow() -> None:
    runs = make_history(120, drift_at=60)

    held = [is_inside("seconds", run) for run in runs]
    middles = [run.expected.seconds / run.fact.seconds for run in runs]
    assert mean(held[30:]) > 0.85 and mean(held[80:]) > 0.85
    assert mean(middles[90:]) == pytest.approx(mean(middles[30:60]), rel=0.25)


def test_misses_widen_the_next_interval_and_hits_narrow_it() -> None:
    runs = make_history(40)
    late = [run for run in runs if run.expected.runs >= 10]
    missed = [
        run.model_copy(update={"fact": run.fact.model_copy(update={"seconds": 1e6})})
        for run in late
    ]

    assert adapt_misses("seconds", missed) < 0.1
    assert adapt_misses("model_calls", late) >= 0.1


def test_chance_moves_no_interval_and_a_lasting_error_does() -> None:
    runs = make_history(40)
    slower = [
        run.model_copy(
            update={"fact": run.fact.model_copy(update={"seconds": 3 * run.fact.seconds})}
        )
        for run in runs
    ]

    assert abs(find_shift("seconds", runs)) < 0.2
    assert find_shift("seconds", slower) > 0.7
    assert find_shift("seconds", []) == 0


def test_one_run_far_off_hardly_moves_the_estimate() -> None:
    runs = make_history(40)
    odd = runs[-1].model_copy(update={"fact": runs[-1].fact.model_copy(update={"seconds": 1e11})})

    before, after = (
        choose_interval("seconds", (10.0, 20.0, 40.0), each, [])
        for each in (runs, [*runs[:-1], odd])
    )

    assert after.middle < 2 * before.middle and after.high < 3 * before.high


def test_a_few_runs_far_off_among_like_ones_make_no_absurd_interval() -> None:
    draw, runs = random.Random(1), list[DoneRun]()
    for number in range(30):
        run = finish_run(plan_run(), runs, draw)
        if number in (14, 15, 18):
            tasks = tuple(task.model_copy(update={"calls": 45}) for task in run.tasks)
            fact = run.fact.model_copy(update={"model_calls": 90})
            run = run.model_copy(update={"tasks": tasks, "fact": fact})
        runs.append(run)

    ends = [run.expected.high.model_calls for run in runs[15:] if run.expected.high]

    assert 90 in ends and max(ends) <= 91


def test_a_team_without_runs_borrows_the_errors_of_others() -> None:
    others = make_history(40, team="other")

    alone, helped = (choose_interval("seconds", (10.0, 20.0, 40.0), [], o) for o in ((), others))

    assert helped.high < alone.high
    for each in (alone, helped):
        assert 0 <= each.low <= each.middle <= each.high


@given(st.tuples(st.floats(0, 1e12), st.floats(0, 1e12), st.floats(0, 1e12)))
def test_every_interval_is_finite_and_in_order(three: tuple[float, float, float]) -> None:
    low, middle, high = sorted(three)

    for amount in AMOUNTS:
        found = choose_interval(amount, (low, middle, high), [], [])
        assert 0 <= found.low <= found.middle <= found.high <= 1.0001e12
