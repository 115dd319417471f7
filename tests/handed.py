"""What workers were really asked to do, read from their requests at the endpoint."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.endpoint import Call

Handed = dict[str, Any]
"""A task's id, worker, words, and the names of its inputs and materials."""

_PART = r"<{0}>\n(.*?)\n</{0}>"
_ARTIFACT = re.compile(r'<artifact name="([^"]*)">')


def handed(calls: Iterable[Call]) -> list[Handed]:
    """Give each task that reached a worker's model, as its handoff has it."""
    return _sorted(_handoff(call) for call in calls if call.schema == "Report")


def planned(plan: Mapping[str, Any]) -> list[Handed]:
    """Give the tasks of a plan, as JSON, in the same form."""
    return _sorted(
        {
            "id": task["id"],
            "worker": task["worker"],
            "description": task["description"],
            "depends_on": sorted(task.get("depends_on", ())),
            "materials": sorted(task.get("materials", ())),
        }
        for task in plan["tasks"]
    )


def _handoff(call: Call) -> Handed:
    (words,) = [m["content"] for m in call.body["messages"] if m["role"] == "user"]
    head = dict(line.split(": ", 1) for line in _part(words, "handoff").splitlines())
    reports = map(json.loads, _part(words, "context").splitlines())
    return {
        "id": head["task"],
        "worker": head["to"],
        "description": _part(words, "intent"),
        "depends_on": sorted(report["task"] for report in reports),
        "materials": sorted(_ARTIFACT.findall(words)),
    }


def _part(words: str, tag: str) -> str:
    found = re.search(_PART.format(tag), words, re.DOTALL)
    return found.group(1) if found else ""


def _sorted(tasks: Iterable[Handed]) -> list[Handed]:
    return sorted(tasks, key=lambda task: str(task["id"]))
