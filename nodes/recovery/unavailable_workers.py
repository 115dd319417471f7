"""Finds others for the tasks of workers whose servers do not answer, before they are sent."""

from collections.abc import Collection, Mapping

from nodes.limits.worker_load import get_team_load
from nodes.planning.idle_workers import assign_idle_workers
from nodes.recovery.reassignment import list_candidates
from nodes.schemas.team import Team
from nodes.telemetry.events import emit
from state import Plan, Report


async def emit_unavailable_workers(team: Team) -> None:
    """Name the workers whose servers did not answer at the run's start."""
    for name, reason in [*get_team_load(team).unavailable.items()]:
        await emit("worker_unavailable", worker=name, reason=reason)


async def assign_workers(
    plan: Plan, todo: Collection[str], results: Mapping[str, Report], team: Team
) -> dict[str, str]:
    """Return who does the tasks whose own workers are busy or unavailable, by task.

    A task that fits no other worker stays: its own worker may answer by then.
    """
    assigned = await assign_idle_workers(plan, todo, results, team)
    unavailable = get_team_load(team).unavailable
    for task in plan.tasks:
        if task.id not in todo or assigned.get(task.id, task.worker) not in unavailable:
            continue
        worker = team.find_worker(task.worker)
        able = list_candidates(task, worker, team)
        if name := next((each for each in able if each not in unavailable), None):
            assigned[task.id] = name
            reason = f"{worker.name} is unavailable"
            names = {"from": worker.name, "to": name}
            await emit("reassigned", task=task.id, worker=name, reason=reason, **names)
    return assigned
