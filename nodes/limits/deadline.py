"""The time: how long a run has taken, what it has left, and what it does without near the end."""

import time
from typing import Final

from langchain_core.runnables import RunnableConfig

from nodes.limits.recorder import read_outside
from nodes.limits.run_scope import get_run_scope
from nodes.schemas.team import Team
from state import Context, Plan, SupervisorState, Tier

_EPOCH: Final = time.time() - time.monotonic()
DEFAULT_SETTING: Final = "SUPERVISE_DEADLINE_S"
WARNING_SHARE: Final = 0.8
"""Of the time for work: from here on the run does without what it can."""
CHEAPEST_TIER: Tier = "fast"


def now_s() -> float:
    """Return the time of day in seconds, from a clock that never runs backwards in a process."""
    return _EPOCH + time.monotonic()


def get_elapsed_s(config: RunnableConfig) -> float:
    """Return the seconds since the run began, for a result; 0 outside a run of ours."""
    return read_outside("elapsed", lambda: measure_elapsed_s(config), config)


def measure_elapsed_s(config: RunnableConfig) -> float:
    """Return the same for what is only shown: no recorder keeps it."""
    began_at = get_run_scope(config).began_at
    return 0.0 if began_at is None else max(0.0, now_s() - began_at)


def get_request_s(config: RunnableConfig) -> float:
    """Return the seconds of the run at which its request came; another server may have begun it."""
    scope = get_run_scope(config)
    if scope.first_claimed_at is None or scope.began_at is None:
        return get_elapsed_s(config)
    return max(0.0, scope.first_claimed_at - scope.began_at)


def get_remaining_s(config: RunnableConfig) -> float | None:
    """Return the seconds left before the answer must be written; None without a deadline."""

    def measure() -> float | None:
        deadline = get_run_scope(config).deadline
        return None if deadline is None else max(0.0, deadline.work_ends_at - now_s())

    return read_outside("remaining", measure, config)


def is_deadline_past(config: RunnableConfig) -> bool:
    """Return whether the time for work is over."""

    def measure() -> bool:
        deadline = get_run_scope(config).deadline
        return deadline is not None and deadline.work_ends_at <= now_s()

    return read_outside("is past", measure, config, usual=False)


def name_deadline_option(config: RunnableConfig) -> str:
    """Return what a user sets for a later deadline."""
    scope = get_run_scope(config)
    if scope.deadline and scope.deadline.pace:
        return f"--deadline or {DEFAULT_SETTING}"
    own = f", or timeout_s of the worker of {scope.outer_task}" if scope.outer_task else ""
    return f"--deadline{own}"


def count_plan_tasks(config: RunnableConfig, tasks: int) -> None:
    """Count the tasks of the run's plan, or of a nested team's, for a default deadline."""
    scope = get_run_scope(config)
    if scope.pace:
        scope.pace.tasks[scope.outer_task] = tasks


def is_deadline_near(config: RunnableConfig) -> bool:
    """Return whether most of the time for work is over."""
    deadline = get_run_scope(config).deadline
    if deadline is None:
        return False
    work_s = deadline.work_ends_at - deadline.starts_at
    return deadline.work_ends_at - now_s() <= (1.0 - WARNING_SHARE) * work_s


def should_degrade(config: RunnableConfig) -> bool:
    """Return whether most of the run's time, tokens or money for work is used up."""

    def measure() -> bool:
        budget = get_run_scope(config).budget
        return is_deadline_near(config) or (budget is not None and budget.is_low())

    return read_outside("degrades", measure, config, usual=False)


def find_optional_tasks(plan: Plan) -> frozenset[str]:
    """Name the tasks that others want, but that none of them needs."""
    wanted = {edge.task for task in plan.tasks for edge in task.depends_on}
    needed = {edge.task for task in plan.tasks for edge in task.depends_on if edge.required}
    return frozenset(wanted - needed)


def count_steps_left(state: SupervisorState, context: Context, team: Team) -> int:
    """Return the attempts that the step cap still allows."""
    limit = team.max_steps if context.max_steps is None else context.max_steps
    return limit - sum(state.get("steps", {}).values())
