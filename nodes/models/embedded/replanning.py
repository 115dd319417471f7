"""Plans that change: after a finding, or after a human has rejected them with a reason."""

from collections.abc import Callable, Sequence
from typing import Any

from nodes.models.embedded.worker_fit import WorkerFit, list_named_workers
from nodes.schemas.beside import RevisionValues
from nodes.schemas.team import Team

BuildTask = Callable[[str, list[str], Sequence[str]], dict[str, Any]]
"""Makes a task from a worker, the words it answers, and the tasks it waits for."""


def can_use_reason(team: Team, reason: str) -> bool:
    """Return whether the reason for a rejection names workers, and so says whom to plan."""
    return any(list_named_workers(team, reason))


def keep_named_workers(team: Team, revision: RevisionValues, build: BuildTask) -> dict[str, Any]:
    """Return the rejected plan with exactly the workers that the reason leaves."""
    plan = _dump(revision)
    wanted, unwanted = list_named_workers(team, revision.reason)
    planned = {task["worker"] for task in plan["tasks"]}
    left = {*(wanted or planned)} - {*unwanted}
    tasks = [task for task in plan["tasks"] if task["worker"] in left]
    tasks += [build(name, [plan["goal"]], ()) for name in wanted if name in left - planned]
    ids = {task["id"] for task in tasks}
    for task in tasks:
        task["depends_on"] = [edge for edge in task["depends_on"] if edge["task"] in ids]
    return {**plan, "tasks": tasks}


def continue_plan(fit: WorkerFit, revision: RevisionValues, build: BuildTask) -> dict[str, Any]:
    """Return the plan with a task for the worker that a finding is for, before what is to be done.

    Without tasks to be done, or a worker that has none yet, it is the same plan.
    """
    plan = _dump(revision)
    done = {report.task for report in revision.results} | set(revision.running)
    planned = {task["worker"] for task in plan["tasks"]}
    waiting = [task for task in plan["tasks"] if task["id"] not in done]
    new = [name for name in fit.rank_workers(revision.reason) if name not in planned]
    grounds = [each.task for each in revision.results if f"{each.task} (" in revision.reason]
    added = [build(name, [revision.reason], grounds) for name in new[:1] if waiting]
    for task in waiting:
        task["depends_on"] += [{"task": each["id"], "required": False} for each in added]
    return {**plan, "tasks": [*plan["tasks"], *added]}


def _dump(revision: RevisionValues) -> dict[str, Any]:
    return revision.plan.model_dump(mode="json", exclude={"version", "rule_reason"})
