"""How much time a run has left, and what a user changes for more."""

from typing import Final

from langchain_core.runnables import RunnableConfig

from nodes.limits.clock import now_s
from nodes.limits.run_scope import get_run_scope

DEFAULT_SETTING: Final = "SUPERVISE_DEADLINE_S"
WARNING_SHARE: Final = 0.8
"""Of the time for work: from here on the run does without what it can."""


def get_remaining_s(config: RunnableConfig) -> float | None:
    """Return the seconds left before the answer must be written; None without a deadline."""
    deadline = get_run_scope(config).deadline
    return None if deadline is None else max(0.0, deadline.work_ends_at - now_s())


def is_deadline_past(config: RunnableConfig) -> bool:
    """Return whether the time for work is over."""
    return get_remaining_s(config) == 0.0


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
