"""Finds other workers for a task: one that failed, or whose own is busy or unavailable."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.limits.worker_load import TeamLoad, get_team_load, list_interchangeable_workers
from nodes.planning.tool_fit import explain_misfit
from nodes.schemas.team import SPECIALIST, Team, Worker
from nodes.telemetry.events import emit
from nodes.text.word_lists import FUNCTION_WORDS
from state import EscalationReason, Plan, Report, Task, Tier

_WORD: Final = Pattern(r"[a-z]{3,}")


def list_candidates(
    task: Task,
    worker: Worker,
    team: Team,
    *,
    reason: EscalationReason | None = None,
    message: str = "",
) -> dict[str, Tier]:
    """Return the workers that may take a worker's task, with their tiers, the best first.

    The first is its fallback. A task that was out of its scope may also go to a worker that its
    message names, to a worker whose card shares words with the task, to the generalist, or to a
    specialist. An unclear one goes to the fallback alone, since others see no more of it. One that
    failed may go to a worker whose card shares at least as many words with the task as the card of
    the worker that failed. A team that prefers idle workers lists those first, and then by how soon
    each is expected to be done. None may where the run is held to a certificate.
    """
    if team.is_held:
        return {}
    candidates = [worker.fallback] if worker.fallback else []
    is_out_of_scope = reason == "out_of_scope"
    roster = () if reason == "ambiguous_input" else team.roster
    able = [
        other
        for other in roster
        if other.name not in (worker.name, SPECIALIST) and explain_misfit(task, other, team) is None
    ]
    if is_out_of_scope:
        candidates += [other.name for other in able if _is_named_in(message, other)]
    least = 1 if is_out_of_scope else max(1, _count_shared_words(task, worker))
    shared = {other.name: _count_shared_words(task, other) for other in able}
    near = sorted(shared, key=lambda name: -shared[name])
    candidates += [name for name in near if shared[name] >= least]
    if is_out_of_scope:
        candidates += [team.generalist] if team.generalist else []
        candidates += [SPECIALIST] if team.recruit else []
    names = [name for name in dict.fromkeys(candidates) if name != worker.name]
    if team.prefer_idle:
        load = get_team_load(team)
        waits = load.estimate_waits(names)
        names.sort(key=lambda name: waits[name] if load.measure_load(name).in_flight else 0.0)
    return {name: team.find_worker(name).tier for name in names}


def _is_named_in(message: str, worker: Worker) -> bool:
    name = worker.name.replace("_", " ")
    return Pattern(rf"\b{name}\b").search(message.lower().replace("_", " ")) is not None


def _count_shared_words(task: Task, worker: Worker) -> int:
    card = f"{worker.card} {' '.join(worker.tools)}".replace("_", " ")
    return len(_extract_words(task.description) & _extract_words(card))


def _extract_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - FUNCTION_WORDS


async def emit_unavailable_workers(team: Team) -> None:
    """Name the workers whose servers did not answer at the run's start."""
    for name, reason in get_team_load(team).list_unavailable().items():
        await emit("worker_unavailable", worker=name, reason=reason)


async def assign_workers(
    plan: Plan, todo: Collection[str], results: Mapping[str, Report], team: Team
) -> dict[str, str]:
    """Return who does the tasks whose own workers are busy or unavailable, by task.

    A task that fits no other worker stays: its own worker may answer by then.
    """
    assigned = await assign_idle_workers(plan, todo, results, team)
    unavailable = get_team_load(team).list_unavailable()
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
