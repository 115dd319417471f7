"""Finds others for tasks whose workers' servers do not answer, or who are busy, before sending."""

from collections import Counter
from collections.abc import Collection, Mapping

from nodes.limits.worker_load import TeamLoad, get_team_load, list_interchangeable_workers
from nodes.planning.tool_fit import explain_misfit
from nodes.recovery.reassignment import list_candidates
from nodes.schemas.team import Team
from nodes.telemetry.events import emit
from state import Plan, Report, Task


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


async def assign_idle_workers(
    plan: Plan, todo: Collection[str], results: Mapping[str, Report], team: Team
) -> dict[str, str]:
    """Return who does the tasks that do not go to the worker of the plan, by task.

    Only tasks that can start now are moved, since the load at a later moment is unknown, and only
    between workers that are each other's fallback, directly or in a circle. A router has already
    chosen by load.
    """
    if not team.prefer_idle or team.strategy == "route":
        return {}
    load, sent, assigned = get_team_load(team), Counter[str](), dict[str, str]()
    for task in plan.tasks:
        if task.id not in todo or any(edge.task not in results for edge in task.depends_on):
            continue
        name = _choose_worker(task, team, load, sent)
        if name != task.worker:
            assigned[task.id] = name
            busy = load.measure_load(task.worker, planned=sent[task.worker]).describe()
            reason = f"{task.worker} is busy ({busy}), and {name} can do the same sooner"
            names = {"from": task.worker, "to": name}
            await emit("reassigned", task=task.id, worker=name, reason=reason, **names)
        sent[name] += 1
    return assigned


def _choose_worker(task: Task, team: Team, load: TeamLoad, sent: Mapping[str, int]) -> str:
    """Return the worker of a task, or one that can do the same sooner if that one is busy.

    Args:
        sent: tasks of this dispatch that have been given to a worker, by its name.
    """
    own = team.find_worker(task.worker)
    if not load.measure_load(own.name, planned=sent[own.name]).in_flight:
        return own.name
    able = [
        other.name
        for other in list_interchangeable_workers(own, team)
        if (other.tier, other.tiers) == (own.tier, own.tiers)
        and explain_misfit(task, other, team) is None
    ]
    waits = load.estimate_waits([own.name, *able], planned=sent)
    return min(waits, key=lambda name: waits[name])
