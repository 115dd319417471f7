"""The plan as chat interfaces show it: a to-do list, and a message for a drawn plan."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph.ui import UIMessage

from nodes.limits.deadline import measure_elapsed_s
from nodes.prompts.tags import shorten_text
from nodes.telemetry.events import build_task_path
from state import Plan, Report, SupervisorState, Task, Todo, TodoStatus

PLAN_MESSAGE: Final = "plan"
"""The name and the id of the message: each thread has one, of its current plan."""
MAX_CONTENT_CHARS: Final = 160
MAX_GOAL_CHARS: Final = 400


def show_plan(
    config: RunnableConfig,
    plan: Plan,
    results: Mapping[str, Report],
    *,
    sent: Collection[str] = (),
) -> SupervisorState:
    """Return the plan's to-do list and message for the state; the message is streamed at once.

    A plan of a team inside a task is not shown.

    Args:
        sent: the ids of the tasks that may run now; those with unfinished inputs still wait.
    """
    if build_task_path(config):
        return {}
    todos = build_todos(plan, results, sent=sent)
    statuses = {todo["id"]: todo["status"] for todo in todos}
    goal = shorten_text(plan.goal, MAX_GOAL_CHARS)
    message = build_plan_message(
        {"goal": goal, "version": plan.version, **_name_statuses(statuses)}, is_merged=False
    )
    get_stream_writer()(_build_event(message, config))
    return {"todos": todos, "ui": [message]}


def build_todos(
    plan: Plan, results: Mapping[str, Report], *, sent: Collection[str] = ()
) -> tuple[Todo, ...]:
    """Return a to-do for each task, in the plan's order; one that failed says so in its words."""
    return tuple(
        Todo(
            id=task.id,
            content=_describe(task, results.get(task.id)),
            status=_get_status(task, results, sent),
        )
        for task in plan.tasks
    )


def build_status_event(task: str, status: TodoStatus, config: RunnableConfig) -> Mapping[str, Any]:
    """Return the event that changes the status of one task in the message of the plan."""
    message = build_plan_message(_name_statuses({task: status}), is_merged=True)
    return _build_event(message, config, task=task)


def _build_event(
    message: UIMessage, config: RunnableConfig, *, task: str = ""
) -> Mapping[str, Any]:
    """Return a message with the fields of the run's other events; no trace holds it."""
    t = round(measure_elapsed_s(config), 6)
    return {"t": t, "kind": "ui", "task": task, "worker": "", **message}


def build_plan_message(props: Mapping[str, Any], *, is_merged: bool) -> UIMessage:
    """Return a message that `ui_message_reducer` puts in place of the earlier one, or merges."""
    metadata = {"merge": is_merged}
    return UIMessage(
        type="ui", id=PLAN_MESSAGE, name=PLAN_MESSAGE, props=dict(props), metadata=metadata
    )


def _name_statuses(statuses: Mapping[str, TodoStatus]) -> dict[str, TodoStatus]:
    """Return one property for each task, since a merge replaces whole properties."""
    return {f"task:{name}": status for name, status in statuses.items()}


def _get_status(task: Task, results: Mapping[str, Report], sent: Collection[str]) -> TodoStatus:
    if task.id in results:
        return "completed"
    is_ready = task.id in sent and all(edge.task in results for edge in task.depends_on)
    return "in_progress" if is_ready else "pending"


def _describe(task: Task, report: Report | None) -> str:
    words = shorten_text(task.description, MAX_CONTENT_CHARS)
    if report is None or report.status == "completed":
        return words
    return f"{words} ({report.status})"
