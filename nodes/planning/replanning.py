"""The next version of a plan: what has a result stays, the rest may change."""

from collections.abc import Mapping
from typing import Any

from nodes.planning.validation import list_vague_tasks
from state import Plan, Report, SupervisorState, Task, Team

MAX_DESCRIPTION_CHARS = 4_000
"""As a task allows."""


def keep_finished_tasks(new: Plan, old: Plan, results: Mapping[str, Report]) -> Plan:
    """Put the finished tasks of the old plan, unchanged, into the new one.

    Raises:
        ValidationError: the two do not make a plan together.
    """
    finished = {task.id: task for task in old.tasks if task.id in results}
    fresh = [task for task in new.tasks if task.id not in finished]
    tasks = (*finished.values(), *fresh)
    return Plan.model_validate(
        {**dict(new), "tasks": tasks, "version": old.version + 1},
    )


def build_plan_event(plan: Plan, team: Team) -> dict[str, Any]:
    """Return what an event tells of a plan; the notes name its vague tasks.

    A team that routes or steps plans with the words it was given, which nobody can repair.
    """
    notes = [] if team.strategy in ("route", "step") else list_vague_tasks(plan.tasks)
    return {"plan": plan.model_dump(mode="json"), "version": plan.version, "notes": notes}


def compare_plans(old: Plan, new: Plan) -> dict[str, Any]:
    """Return what a new version changed, by task id."""
    before, after = _index_by_id(old), _index_by_id(new)
    return {
        "added": [name for name in after if name not in before],
        "removed": [name for name in before if name not in after],
        "changed": [name for name in after if name in before and after[name] != before[name]],
    }


def list_open_objections(
    plan: Plan, results: Mapping[str, Report], heeded: tuple[str, ...]
) -> list[Report]:
    """Return the reports that speak against the rest of the plan and were not heeded yet."""
    return [
        results[task.id]
        for task in plan.tasks
        if task.id in results and results[task.id].invalidates and task.id not in heeded
    ]


def count_stalls(new: Plan, state: SupervisorState) -> int:
    """Count a revision: progress is a task completed since the last one, and a plan that is new."""
    results, stalls = state.get("results", {}), state.get("stalls", 0)
    is_new = all(
        _collect_unfinished_work(new, results) != _collect_unfinished_work(old, results)
        for old in state.get("plans", ())
    )
    if is_new and count_completed(results) > state.get("completed_at_last_revision", 0):
        return max(0, stalls - 1)
    return stalls + 1


def count_completed(results: Mapping[str, Report]) -> int:
    """Count the results that are complete."""
    return sum(report.status == "completed" for report in results.values())


def add_rework_note(task: Task, note: str) -> Task:
    """Add to a task's words what its worker must mend; empty for a task not sent back."""
    if not note:
        return task
    mending = f"\n\nAn earlier result was sent back. Mend this: {note}"
    words = task.description[: MAX_DESCRIPTION_CHARS - len(mending)] + mending
    return task.model_copy(update={"description": words})


def list_unfinished(plan: Plan, results: Mapping[str, Report]) -> tuple[str, ...]:
    """Return the ids of the tasks that have no report yet, each after those that it depends on."""
    return tuple(task.id for task in plan.order_tasks() if task.id not in results)


def _collect_unfinished_work(
    plan: Plan, results: Mapping[str, Report]
) -> frozenset[tuple[str, str]]:
    """Return the work of a plan that has no result yet, whatever its tasks are called."""
    left = (task for task in plan.tasks if task.id not in results)
    return frozenset((task.worker, task.description) for task in left)


def _index_by_id(plan: Plan) -> dict[str, Task]:
    return {task.id: task for task in plan.tasks}
