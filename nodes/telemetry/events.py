"""What happens in a run, as events.

An event goes to LangGraph's `custom` stream and to every callback handler of the run, as a custom
event named by its kind. Who keeps it is not this file's business.
"""

from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.callbacks import adispatch_custom_event
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config, get_stream_writer

from nodes.errors.redaction import redact_value
from nodes.limits.deadline import measure_elapsed_s
from nodes.limits.run_scope import get_run_scope
from nodes.telemetry.tracing import has_handlers

EventKind = Literal[
    "request",
    "plan_created",
    "plan_rejected",
    "plan_corrected",
    "plan_by_rule",
    "plan_approved",
    "plan_reviewed",
    "plan_revised",
    "speculated",
    "dispatched",
    "awaiting",
    "task_started",
    "model_call",
    "output_method",
    "limits_scaled",
    "tool_call",
    "report",
    "report_sent_back",
    "refined",
    "refinement_refused",
    "escalated",
    "reassigned",
    "split",
    "recruited",
    "worker_unavailable",
    "remote_started",
    "remote_event",
    "remote_ended",
    "task_skipped",
    "deadline",
    "budget",
    "judged",
    "second_look",
    "answer_refused",
    "synthesized",
    "criticized",
    "answer",
    "error",
]


def build_task_path(config: RunnableConfig | None = None, task: str = "") -> str:
    """Return a task's place in the whole run: `outer/inner` within a team that does a task."""
    outer_task = get_run_scope(config or get_config()).outer_task
    return "/".join(filter(None, [outer_task, task]))


async def emit(kind: EventKind, *, task: str = "", worker: str = "", **data: Any) -> None:
    """Send an event to the run's listeners.

    Task and worker default to those of the call around it. An event of a team inside a task names
    that task in `within`.
    """
    config = get_config()
    around = config.get("metadata", {})
    event = {
        "t": round(measure_elapsed_s(config), 6),
        "kind": kind,
        "task": build_task_path(config, task or around.get("task", "")),
        "worker": worker or around.get("worker", ""),
        **data,
    }
    if within := build_task_path(config):
        event["within"] = within
    emitted: Mapping[str, Any] = redact_value(event)
    if recorder := get_run_scope(config).recorder:
        emitted = await recorder.pass_event(emitted)
    await send_event(emitted, config)


async def send_event(event: Mapping[str, Any], config: RunnableConfig) -> None:
    """Send an event as it is to the listeners of the run around."""
    get_stream_writer()(event)
    if keep_event := get_run_scope(config).keep_event:
        keep_event(event)
    if has_handlers(config):  # dispatching without one costs as much as a node's work
        await adispatch_custom_event(str(event["kind"]), event, config=config)
