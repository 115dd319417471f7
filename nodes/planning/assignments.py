"""What is sent to the workers of a superstep.

A checkpoint holds each of these several times, so the texts of materials are not among them: an
attempt finds them in the run's scope.
"""

from collections.abc import Collection

from langgraph.types import Send

from nodes.limits.deadline import find_optional_tasks
from nodes.planning.replanning import add_rework_note
from nodes.security.provenance import build_task_origin
from state import Assignment, SupervisorState, require_plan


def build_sends(state: SupervisorState, names: Collection[str]) -> list[Send]:
    """Return what to send for tasks of the plan, in topological order."""
    plan, results = require_plan(state), state.get("results", {})
    spare, assigned = find_optional_tasks(plan), state.get("assigned", {})
    tasks = [
        task.model_copy(update={"worker": assigned.get(task.id, task.worker)})
        for task in plan.order_tasks()
        if task.id in names
    ]
    return [
        Send(
            task.worker,
            Assignment(
                task=add_rework_note(task, state.get("notes", {}).get(task.id, "")),
                given=() if task.depends_on else state.get("given", ()),
                origin=build_task_origin(task, state),
                is_dispensable=task.id in spare,
                known={e.task: results[e.task] for e in task.depends_on if e.task in results},
                max_attempts=state["max_attempts"],
                plan_version=plan.version,
                steps_left=state["steps_left"],
            ),
        )
        for task in tasks
    ]
