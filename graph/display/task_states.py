"""The state of each task of a trace, as users read it."""

from collections.abc import Mapping
from typing import Any, Final

from graph.display.progress import STATE_LABELS

_CUT_OFF_LABELS: Final = {"working": "cut off"}
_LABELS_BY_RUN_STATUS: Final = {
    "stopped": _CUT_OFF_LABELS,
    "failed": _CUT_OFF_LABELS,
    "needs_input": {"working": "waiting for your answer"},
}
"""Labels of tasks that began but have no report, by the run's status."""


def label_tasks(trace: Mapping[str, Any]) -> dict[str, str]:
    """Return the label of each task's state; a stopped run has no working task."""
    status = (trace.get("run") or {}).get("status")
    states = {**STATE_LABELS, **_LABELS_BY_RUN_STATUS.get(str(status), {})}
    tasks = trace.get("tasks") or ()
    return {task["id"]: states.get(task["status"], task["status"]) for task in tasks}
