"""The node that asks a human about one task, and gives the answer to that task alone."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from nodes.execution.dispatch import Dispatch
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
    task, number = state["task"], len(state["attempts"])
    dispatch.release(task.id)
    report = state["attempts"][str(number)].report
    asked = report.escalation if report else None
    question = asked.message if asked else state["problem"]
    partial = (asked.partial if asked else "") or (report.output if report else "")
    said = interrupt(
        {
            "kind": "question",
            "task": build_task_path(config, task.id),
            "worker": state["change"].worker,
            "question": question,
            "partial": partial,
        }
    )
    return {"answers": {**state.get("answers", {}), question: str(said).strip()}}
