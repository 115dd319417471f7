"""What workers were really asked to do, read from their requests at the endpoint."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.endpoint import Call

TaskHandoff = dict[str, Any]
"""A task's id, worker, words, and the names of its inputs and materials."""

_TAG_PATTERN = r"<{0}>\n(.*?)\n</{0}>"
_FILE_PATTERN = re.compile(r'<file name="([^"]*)">')


def list_handoffs(calls: Iterable[Call]) -> list[TaskHandoff]:
    """Return each task that reached a worker's model, as its handoff has it."""
    return _sort_by_id(_parse_handoff(call) for call in calls if call.schema == "Report")


def list_planned_tasks(plan: Mapping[str, Any]) -> list[TaskHandoff]:
    """Return the tasks of a plan, as JSON, in the same form."""
    return _sort_by_id(
        {
            "id": task["id"],
            "worker": task["worker"],
            "description": task["description"],
            "depends_on": sorted(task.get("depends_on", ())),
            "materials": sorted(task.get("materials", ())),
        }
        for task in plan["tasks"]
    )


def _parse_handoff(call: Call) -> TaskHandoff:
    words, *_ = [m["content"] for m in call.body["messages"] if m["role"] == "user"]
    head = dict(line.split(": ", 1) for line in _extract_tag(words, "handoff").splitlines())
    reports = map(json.loads, _extract_tag(words, "context").splitlines())
    return {
        "id": head["task"],
        "worker": head["to"],
        "description": _extract_tag(words, "intent"),
        "depends_on": sorted(report["task"] for report in reports),
        "materials": sorted(_FILE_PATTERN.findall(words)),
    }


def _extract_tag(words: str, tag: str) -> str:
    found = re.search(_TAG_PATTERN.format(tag), words, re.DOTALL)
    return found.group(1) if found else ""


def _sort_by_id(tasks: Iterable[TaskHandoff]) -> list[TaskHandoff]:
    return sorted(tasks, key=lambda task: str(task["id"]))
