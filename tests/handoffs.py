"""What workers were really asked to do, read from their requests at the endpoint."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.endpoint import Call
from tests.plan_payloads import TEAM

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
    (task,) = re.findall(r"^task: (\S+)$", words, re.MULTILINE)
    reports = map(json.loads, _extract_tag(words, "context").splitlines())
    return {
        "id": task,
        "worker": _find_worker(call),
        "description": _extract_tag(words, "intent"),
        "depends_on": sorted(report["task"] for report in reports),
        "materials": sorted(_FILE_PATTERN.findall(words)),
    }


def _find_worker(call: Call) -> str:
    """Return the worker by its instructions, with which its prompt begins."""
    system = str(call.body["messages"][0]["content"])
    return next((w.name for w in TEAM.workers if system.startswith(w.instructions)), "")


def _extract_tag(words: str, tag: str) -> str:
    found = re.search(_TAG_PATTERN.format(tag), words, re.DOTALL)
    return found.group(1) if found else ""


def _sort_by_id(tasks: Iterable[TaskHandoff]) -> list[TaskHandoff]:
    return sorted(tasks, key=lambda task: str(task["id"]))
