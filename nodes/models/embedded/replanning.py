"""Go on with a plan that a report has upset: what has a result stays, an example gives the rest."""

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
    """Why a plan that is under way must change, and what of it is done."""

    reason: str
    finished: tuple[dict[str, Any], ...]
    """The tasks that have a result, as the plan has them."""
    is_over: bool
    """The plan has no task left that could be in vain."""

    @property
    def objecting_tasks(self) -> list[str]:
        """Name the tasks whose reports are the reason."""
        return [
            name
            for name in (str(task["id"]) for task in self.finished)
            if Pattern(rf"^{re.escape(name)} \(", re.MULTILINE).search(self.reason)
        ]


def read_revision_request(text: str) -> RevisionRequest | None:
    """Read what is said of a plan under way; None where nothing of it is done."""
    done = {report.get("task") for report in parse_reports(read_section(text, "results"))}
    tasks = list_objects(parse_json_object(read_section(text, "plan")), "tasks")
    finished = tuple(task for task in tasks if task.get("id") in done)
    reason = read_section(text, "reason")
    is_over = len(finished) == len(tasks)
    return RevisionRequest(reason, finished, is_over) if reason and finished else None


def continue_plan(draft: dict[str, Any], under_way: RevisionRequest) -> dict[str, Any]:
    """Take a draft's tasks for workers that have not reported, and the finished tasks for others.

    What needs nothing else is given the report that upset the plan.
    """
    done = {str(task["worker"]): str(task["id"]) for task in under_way.finished}
    stands_for = {task["id"]: done.get(task["worker"], task["id"]) for task in draft["tasks"]}
    first = [{"task": name, "required": False} for name in under_way.objecting_tasks]
    fresh = []
    for task in () if under_way.is_over else draft["tasks"]:
        if task["worker"] not in done:
            edges = {stands_for[edge["task"]]: edge for edge in task["depends_on"]}
            needed = [{**edge, "task": name} for name, edge in edges.items()]
            fresh.append({**task, "depends_on": needed or first})
    return {**draft, "tasks": [*under_way.finished, *fresh]}
