"""The first step of a worker: wait for the reports this task needs, and for no others."""

import asyncio
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.execution.dispatch import Dispatch
from nodes.limits.deadline import get_remaining_s
from nodes.telemetry.events import emit
from state import Context, WorkerState


async def await_inputs(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    dispatch: Dispatch,
) -> WorkerState:
    """Collect the inputs, or hold the task when a required one will not come.

    A held task is given back as it was; the supervisor decides what becomes of it.
    """
    task, known = state["task"], state.get("known", {})
    needs = [edge.task for edge in task.depends_on if edge.task not in known]
    if missing := [need for need in needs if not dispatch.has_ended(need)]:
        await emit("awaiting", task=task.id, worker=task.worker, tasks=missing)
    try:
        async with asyncio.timeout(get_remaining_s(config)):
            arrived = await asyncio.gather(*map(dispatch.wait_for_report, needs))
    except TimeoutError:
        arrived = []
    reports = {**known, **{report.task: report for report in arrived if report is not None}}
    lacks = any(
        edge.task not in reports or (edge.required and reports[edge.task].status != "completed")
        for edge in task.depends_on
    )
    if lacks or dispatch.is_stopped:
        dispatch.release(task.id)
        return {"released": True}
    return {"inputs": reports, "description": task.description, "attempts": {}}


def after_await_inputs(state: WorkerState) -> Literal["act", "__end__"]:
    """A held task ends here."""
    return "__end__" if state.get("released") else "act"
