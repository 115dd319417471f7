"""The deadline of a run that sets none: later where models answer slowly, never without end."""

import pytest

from nodes.limits.deadline import (
    count_plan_tasks,
    get_remaining_s,
    is_deadline_near,
    name_deadline_option,
    now_s,
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
