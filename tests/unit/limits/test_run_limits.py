"""What a run may still spend: time, tokens, money and steps."""

import pytest

from nodes.errors import BudgetSpent
from nodes.limits.budget import Budget
from nodes.limits.deadline import (
    count_plan_tasks,
    count_steps_left,
    find_optional_tasks,
    get_elapsed_s,
    get_remaining_s,
    is_deadline_near,
    is_deadline_past,
    name_deadline_option,
    now_s,
    should_degrade,
)
from nodes.limits.run_scope import (
    CALLS_PER_TASK,
    MAX_LENGTHENING,
    SCOPE_KEY,
    Deadline,
    Pace,
    RunScope,
    set_deadline,
)
from state import Context, SupervisorState, Usage
from tests.node_runs import make_config, make_steps
from tests.node_samples import make_plan, make_task
from tests.teams import make_team

LOW = Budget(max_tokens=1_000, tokens=700)
"""More than 0.8 of the 850 tokens that work may use."""


def test_without_a_deadline_there_is_no_end():
    config = make_config()

    assert get_remaining_s(config) is None
    assert not is_deadline_past(config) and not is_deadline_near(config)


@pytest.mark.parametrize(
    ("left_s", "is_near", "is_past"),
    [(50.0, False, False), (19.0, True, False), (0.0, True, True), (-5.0, True, True)],
)
def test_a_deadline_is_near_in_its_last_fifth(left_s: float, is_near: bool, is_past: bool):
    config = make_config(work_left_s=left_s)

    assert (is_deadline_near(config), is_deadline_past(config)) == (is_near, is_past)


def test_the_elapsed_time_counts_from_the_start_of_the_run():
    assert get_elapsed_s(make_config(elapsed_s=5.0)) == pytest.approx(5.0, abs=0.5)


@pytest.mark.parametrize(
    ("budget", "left_s", "degrades"),
    [
        (None, None, False),
        (Budget(max_tokens=1_000), None, False),
        (LOW, None, True),
        (None, 5.0, True),
        (Budget(), 50.0, False),
    ],
)
def test_a_run_degrades_near_its_deadline_or_its_budget(
    budget: Budget | None, left_s: float | None, degrades: bool
):
    assert should_degrade(make_config(budget=budget, work_left_s=left_s)) == degrades


def test_optional_tasks_are_those_that_others_want_and_none_needs():
    plan = make_plan(
        make_task("A"),
        make_task("B"),
        make_task("C", "writer", "A?", "B"),
        make_task("D", "writer", "B?"),
    )

    assert find_optional_tasks(plan) == {"A"}


def test_the_runs_step_cap_goes_before_the_teams():
    state, team = SupervisorState(steps=make_steps(2)), make_team(max_steps=10)

    assert count_steps_left(state, Context(), team) == 8
    assert count_steps_left(state, Context(max_steps=0), team) == -2


def test_work_leaves_the_share_of_the_answer():
    budget = Budget(max_tokens=1_000, tokens=800)

    with pytest.raises(BudgetSpent), budget.reserve_call(100, None, is_last=False):
        pass
    with budget.reserve_call(100, None, is_last=True):
        assert budget.tokens == 900
    assert budget.tokens == 800


def test_calls_in_flight_take_room_from_each_other():
    budget = Budget(max_cost_usd=1.0)

    with (
        budget.reserve_call(0, 0.5, is_last=False),
        pytest.raises(BudgetSpent),
        budget.reserve_call(0, 0.5, is_last=False),
    ):
        pass
    with budget.reserve_call(0, 0.5, is_last=False):
        pass


def test_a_nested_teams_calls_are_held_to_the_outer_budget_and_charged_to_it():
    outer = Budget(max_tokens=1_000, tokens=500)
    inner = Budget(parent=outer)

    with pytest.raises(BudgetSpent), inner.reserve_call(400, None, is_last=True):
        pass
    inner.charge(Usage(input_tokens=200, output_tokens=50, cost_usd=0.1))

    assert (inner.tokens, outer.tokens, outer.cost_usd) == (250, 750, 0.1)
    assert inner.is_low()


def test_a_refused_outer_reservation_leaves_nothing_reserved():
    inner = Budget(parent=Budget(max_tokens=100))

    with pytest.raises(BudgetSpent), inner.reserve_call(400, None, is_last=False):
        pass

    assert (inner.tokens, inner.reserved_tokens) == (0, 0)


def test_free_models_work_under_a_cap_of_nothing():
    budget = Budget(max_cost_usd=0.0)

    with budget.reserve_call(10_000, 0.0, is_last=False):
        budget.charge(Usage(input_tokens=10_000, cost_usd=0.0))

    assert not budget.is_low()


def test_a_new_request_begins_with_an_empty_budget():
    budget = Budget(max_tokens=10, tokens=9, cost_usd=1.0, has_warned=True)

    budget.reset()

    assert (budget.tokens, budget.cost_usd, budget.has_warned) == (0, 0.0, False)


LIMIT_S = 900.0


def make_pace(call_s: float, *, tasks: int, calls: int = 3) -> Pace:
    pace = Pace(tasks={"": tasks})
    for _ in range(calls):
        pace.record_answer(call_s)
    return pace


@pytest.mark.parametrize(
    ("call_s", "tasks", "limit_s"),
    [
        (2.0, 12, LIMIT_S),
        (40.0, 3, LIMIT_S),
        (40.0, 12, CALLS_PER_TASK * 40.0 * 12),
        (40.0, 1000, MAX_LENGTHENING * LIMIT_S),
    ],
    ids=["usual speed", "few tasks", "a slow model with 12 tasks", "never more than the most"],
)
def test_a_default_deadline_leaves_time_for_the_calls_of_the_plan_at_their_measured_time(
    call_s: float, tasks: int, limit_s: float
) -> None:
    deadline = Deadline(100.0, LIMIT_S, make_pace(call_s, tasks=tasks))

    assert deadline.ends_at == 100.0 + limit_s
    assert deadline.work_ends_at == 100.0 + limit_s - 30.0


def test_a_silent_server_lengthens_no_deadline() -> None:
    silent = Deadline(0.0, LIMIT_S, make_pace(120.0, tasks=12, calls=0))

    assert silent.ends_at == LIMIT_S


def test_a_deadline_that_is_set_is_not_lengthened() -> None:
    scope = RunScope(deadline=set_deadline(now_s(), 60.0), pace=make_pace(40.0, tasks=12))
    config = {"configurable": {SCOPE_KEY: scope}}

    assert 50.0 < (get_remaining_s(config) or 0.0) <= 51.0  # type: ignore[arg-type]
    assert name_deadline_option(config) == "--deadline"  # type: ignore[arg-type]


def test_tasks_of_nested_teams_count_and_a_later_plan_replaces_an_earlier_one() -> None:
    pace = make_pace(40.0, tasks=12)
    deadline = Deadline(now_s() - LIMIT_S, LIMIT_S, pace)
    inner = {"configurable": {SCOPE_KEY: RunScope(pace=pace, outer_task="a")}}
    outer = {"configurable": {SCOPE_KEY: RunScope(deadline=deadline, pace=pace)}}

    count_plan_tasks(inner, 4)  # type: ignore[arg-type]
    count_plan_tasks(outer, 8)  # type: ignore[arg-type]

    assert pace.tasks == {"": 8, "a": 4}
    assert not is_deadline_near(outer)  # type: ignore[arg-type]
    assert name_deadline_option(outer) == "--deadline or SUPERVISE_DEADLINE_S"  # type: ignore[arg-type]
