"""Labels for times, models, tasks and their states, the same in every output."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from nodes.text.phrases import DEFAULT_LANGUAGE, say

if TYPE_CHECKING:
    from graph.runs.run_view import TaskView

COULD_NOT: Final = "could not do it"
_STATUS_WORDS: Final[Mapping[str, str]] = {"passages": say(DEFAULT_LANGUAGE, "status_passages")}
_TASK_LABELS: Final[Mapping[str, str]] = {"completed": "done", "escalated": COULD_NOT}
"""Statuses of tasks in words; the others are shown as they are."""
_CUT_OFF_LABELS: Final = {"working": "cut off"}
_LABELS_BY_RUN_STATUS: Final = {
    "stopped": _CUT_OFF_LABELS,
    "failed": _CUT_OFF_LABELS,
    "needs_input": {"working": "waiting for your answer"},
}
"""Labels of tasks that began but have no report, by the run's status."""


def format_seconds(seconds: float) -> str:
    """Return a time in seconds, to the hundredth."""
    return f"{seconds:,.2f} s"


def format_time(written: str) -> str:
    """Return a time in the terminal's zone, with its offset from UTC; empty if it is none.

    Args:
        written: in ISO 8601; without an offset it is in UTC.
    """
    try:
        time = datetime.fromisoformat(written)
        known = time if time.tzinfo else time.replace(tzinfo=UTC)
        return known.astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError):
        return ""


def format_status(status: str) -> str:
    """Return a run's status in words."""
    return _STATUS_WORDS.get(status, status)


def format_task(task: str, worker: str) -> str:
    """Return a task with its worker; one name if both are equal."""
    return task if task.rpartition("/")[2] == worker else f"{task} {worker}".strip()


def label_task(task: "TaskView") -> str:
    """Return the state of a task while its run is at work."""
    is_ready = task.status == "waiting" and not task.waits_for
    return "ready" if is_ready else _TASK_LABELS.get(task.status, task.status)


def label_tasks(trace: Mapping[str, Any]) -> dict[str, str]:
    """Return the label of each task's state in a trace; a stopped run has no working task."""
    status = (trace.get("run") or {}).get("status")
    labels = {**_TASK_LABELS, **_LABELS_BY_RUN_STATUS.get(str(status), {})}
    tasks = trace.get("tasks") or ()
    return {task["id"]: labels.get(task["status"], task["status"]) for task in tasks}


def label_models(models: Any) -> tuple[str, ...]:  # a mapping by tier or a list, as events hold it
    """Return the names of the models, without duplicates."""
    names: Iterable[Any] = models.values() if isinstance(models, Mapping) else models or ()
    return tuple(dict.fromkeys(map(label_model, names)))


def label_model(name: object) -> str:
    """Return a model's name for the user."""
    return "embedded (no language model: quotes and computes)" if name == "embedded" else str(name)
