"""The node that asks a human about one task, and gives the answer to that task alone."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.execution.dispatch import Dispatch
from nodes.human.request import ask_until_clear, build_question_request, word_as_question
from nodes.limits.run_scope import is_stopped
from nodes.telemetry.events import build_task_path
from state import Context, WorkerState


async def ask_human(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    dispatch: Dispatch,
) -> WorkerState:
    """Wait for a human's answer; dependants proceed without this task's result meanwhile.

    The step runs again from its top when the answer comes, so it does nothing else.
    """
    if is_stopped(config, state["task"].id):  # the next step ends it
        return {}
    task, number = state["task"], len(state["attempts"])
    dispatch.release(task.id)
    report = state["attempts"][str(number)].report
    asked = report.escalation if report else None
    question = word_as_question(asked.message if asked else state["problem"])
    partial = (asked.partial if asked else "") or (report.output if report else "")
    request = build_question_request(
        question,
        task=build_task_path(config, task.id),
        worker=state["change"].worker,
        partial=partial,
        asked_s=round(state.get("assessed_s", 0.0), 3),
    )
    return {"answers": {**state.get("answers", {}), question: _read_answer(request)}}


def _read_answer(request: Mapping[str, Any]) -> str:
    """Return a human's answer to a question; a refusal in words that a worker understands."""
    decision = ask_until_clear(request)
    if decision.kind == "respond":
        return decision.message
    reason = f": {decision.message}" if decision.message else ""
    return f"(the human declined to answer{reason})"
