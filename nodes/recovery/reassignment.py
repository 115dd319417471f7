"""Finds other workers that may take a task."""

from typing import Final

from nodes.limits.patterns import Pattern
from nodes.limits.worker_load import get_team_load
from nodes.planning.tool_fit import explain_misfit
from nodes.schemas.team import SPECIALIST, Team, Worker
from nodes.text.word_lists import FUNCTION_WORDS
from state import EscalationReason, Task, Tier

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
    each is expected to be done.
    """
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
