"""Revises a plan that a report invalidated: finished tasks stay, an example provides the rest."""

import re
from dataclasses import dataclass
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.models.embedded.prompt_reading import (
    list_objects,
    parse_json_object,
    parse_reports,
    read_section,
)


@dataclass(frozen=True)
class RevisionRequest:
    """Why a running plan must change, and which of its tasks are finished."""

    reason: str
    finished: tuple[dict[str, Any], ...]
    """The tasks of the plan that have a result, or are at work."""
    is_over: bool
    """The plan has no unfinished task."""

    @property
    def objecting_tasks(self) -> list[str]:
        """The ids of the tasks whose reports are the reason."""
        return [
            name
            for name in (str(task["id"]) for task in self.finished)
            if Pattern(rf"^{re.escape(name)} \(", re.MULTILINE).search(self.reason)
        ]


def read_revision_request(text: str) -> RevisionRequest | None:
    """Return the revision request of a prompt; None while no task is finished."""
    reported = {report.get("task") for report in parse_reports(read_section(text, "results"))}
    done = reported | set(read_section(text, "running").split(", "))
    tasks = list_objects(parse_json_object(read_section(text, "plan")), "tasks")
    finished = tuple(task for task in tasks if task.get("id") in done)
    reason = read_section(text, "reason")
    is_over = len(finished) == len(tasks)
    return RevisionRequest(reason, finished, is_over) if reason and reported else None


def continue_plan(draft: dict[str, Any], under_way: RevisionRequest) -> dict[str, Any]:
    """Return the finished tasks, and a draft's tasks for workers that have not reported.

    Tasks without inputs depend on the tasks whose reports invalidated the plan.
    """
    done = {str(task["worker"]): str(task["id"]) for task in under_way.finished}
    replacements = {task["id"]: done.get(task["worker"], task["id"]) for task in draft["tasks"]}
    first = [{"task": name, "required": False} for name in under_way.objecting_tasks]
    fresh = []
    for task in () if under_way.is_over else draft["tasks"]:
        if task["worker"] not in done:
            edges = {replacements[edge["task"]]: edge for edge in task["depends_on"]}
            needed = [{**edge, "task": name} for name, edge in edges.items()]
            fresh.append({**task, "depends_on": needed or first})
    return {**draft, "tasks": [*under_way.finished, *fresh]}
