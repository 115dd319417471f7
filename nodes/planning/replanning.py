"""The next version of a plan: finished tasks stay, the rest may change."""

from collections.abc import Collection, Mapping
from typing import Any

from nodes.planning.validation import list_vague_tasks
from nodes.schemas.team import Team
from state import Plan, Report, SupervisorState, Task

MAX_DESCRIPTION_CHARS = 4_000
"""The limit of a task's description."""


def keep_finished_tasks(new: Plan, old: Plan, finished: Collection[str]) -> Plan:
    """Return the new plan with the finished tasks of the old one, unchanged.

    Args:
        finished: ids of tasks that have a result or are running.

    Raises:
        ValidationError: the combined tasks are not a valid plan.
    """
    kept = {task.id: task for task in old.tasks if task.id in finished}
    fresh = [task for task in new.tasks if task.id not in kept]
    tasks = (*kept.values(), *fresh)
    return Plan.model_validate(
        {**dict(new), "tasks": tasks, "version": old.version + 1},
    )


def build_plan_event(plan: Plan, team: Team) -> dict[str, Any]:
    """Return the data of a plan event; the notes name its vague tasks.

    A team that routes or steps uses the request's own words, which cannot be repaired.
    """
    notes = [] if team.strategy in ("route", "step") else list_vague_tasks(plan.tasks)
    return {"plan": plan.model_dump(mode="json"), "version": plan.version, "notes": notes}


def compare_plans(old: Plan, new: Plan) -> dict[str, Any]:
    """Return what a new version changed, by task id."""
    before, after = ({task.id: task for task in plan.tasks} for plan in (old, new))
    return {
        "added": [name for name in after if name not in before],
        "removed": [name for name in before if name not in after],
        "changed": [name for name in after if name in before and after[name] != before[name]],
    }


def count_stalls(new: Plan, state: SupervisorState) -> int:
    """Return the number of stalls after a revision.

    A revision makes progress when a task was completed since the last one and the plan is new.
    """
    results, stalls = state.get("results", {}), state.get("stalls", 0)
    is_new = all(
        _collect_unfinished_work(new, results) != _collect_unfinished_work(old, results)
        for old in state.get("plans", ())
    )
    if is_new and count_completed(results) > state.get("completed_at_last_revision", 0):
        return max(0, stalls - 1)
    return stalls + 1


def count_completed(results: Mapping[str, Report]) -> int:
    """Return the number of completed results."""
    return sum(report.status == "completed" for report in results.values())


def add_rework_note(task: Task, note: str) -> Task:
    """Return the task with the note of what to fix added; unchanged for an empty note."""
    if not note:
        return task
    suffix = f"\n\nAn earlier result was sent back. Fix this: {note}"
    description = task.description[: MAX_DESCRIPTION_CHARS - len(suffix)] + suffix
    return task.model_copy(update={"description": description})


def list_unfinished(plan: Plan, results: Mapping[str, Report]) -> tuple[str, ...]:
    """Return the ids of the tasks that have no report yet, each after those that it depends on."""
    return tuple(task.id for task in plan.order_tasks() if task.id not in results)


def _collect_unfinished_work(
    plan: Plan, results: Mapping[str, Report]
) -> frozenset[tuple[str, str]]:
    """Return the worker and description of each task without a result, whatever its id is."""
    left = (task for task in plan.tasks if task.id not in results)
    return frozenset((task.worker, task.description) for task in left)
