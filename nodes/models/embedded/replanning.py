"""Plans that change: after a finding, or after a human has rejected them with a reason."""

from collections.abc import Callable, Sequence
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.schemas.beside import RevisionValues
from nodes.schemas.team import Team
from nodes.text.similarity import extract_words

_EXCLUSION = Pattern(r"(?i)\b(?:except|excluding|without|skip|drop|leave out|no|not|ohne)\b")
"""Words after which a reason names what it does not want."""


def can_use_reason(team: Team, reason: str) -> bool:
    """Return whether the reason for a rejection names workers, and so says whom to plan."""
    wanted, unwanted = list_named_workers(team, reason)
    return bool(wanted or unwanted)


def keep_named_workers(
    team: Team, revision: RevisionValues, whole: dict[str, Any]
) -> dict[str, Any] | None:
    """Return the rejected plan with exactly the workers that the reason leaves; None for no worker.

    Args:
        whole: a plan by rule, for the fields of a plan and for tasks of workers not planned yet.
    """
    wanted, unwanted = list_named_workers(team, revision.reason)
    old = [task.model_dump(mode="json") for task in revision.plan.tasks]
    known = {task["worker"] for task in old}
    old += [task for task in whole["tasks"] if task["worker"] not in known]
    planned = {task["worker"] for task in old} if wanted else known
    kept = [t for t in old if t["worker"] in (wanted or planned) and t["worker"] not in unwanted]
    missing = [name for name in wanted if name not in planned]
    for name in missing:
        subject = revision.plan.goal[:1000]
        card = team.find_worker(name).description
        described = f'For the request "{subject}": {card}'
        kept.append({"id": name, "worker": name, "description": described, "subject": subject})
    ids = {task["id"] for task in kept}
    for task in kept:
        task["depends_on"] = [e for e in task.get("depends_on", ()) if e["task"] in ids]
    return {**whole, "goal": revision.plan.goal, "tasks": kept} if kept else None


def continue_plan(
    revision: RevisionValues,
    takers: Sequence[str],
    build_task: Callable[[str, list[str], Sequence[str]], dict[str, Any]],
) -> dict[str, Any]:
    """Return the plan with a task for the worker that the reason is for, before what is to be done.

    Args:
        takers: the workers that the reason is near to, the nearest first.
        build_task: makes a task from a worker, the words it answers, and the tasks it waits for.
    """
    plan = revision.plan.model_dump(mode="json", exclude={"version", "rule_reason"})
    done = {report.task for report in revision.results} | set(revision.running)
    reported = {task["worker"] for task in plan["tasks"]}
    waiting = [task for task in plan["tasks"] if task["id"] not in done]
    new = [name for name in takers if name not in reported][:1] if waiting else []
    grounds = [each.task for each in revision.results if f"{each.task} (" in revision.reason]
    added = [build_task(name, [revision.reason], grounds) for name in new]
    edges = [{"task": task["id"], "required": False} for task in added]
    tasks = [
        {**task, "depends_on": [*task["depends_on"], *edges]} if task in waiting else task
        for task in plan["tasks"]
    ]
    return {**plan, "tasks": [*tasks, *added]}


def list_named_workers(team: Team, text: str) -> tuple[set[str], set[str]]:
    """Return the workers that a text names, and those that it names as not wanted."""
    included, *excluded = _EXCLUSION.split(text)
    return _find_names(team, included), _find_names(team, " ".join(excluded))


def _find_names(team: Team, text: str) -> set[str]:
    words = f" {' '.join(extract_words(text))} "
    names = [worker.name for worker in team.roster]
    return {n for n in names if f" {' '.join(extract_words(n.replace('_', ' ')))} " in words}
