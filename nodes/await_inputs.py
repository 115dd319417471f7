"""The first step of a worker: wait for the reports this task needs, and for no others."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.execution.dispatch import Dispatch
from nodes.limits.deadline import get_remaining_s, is_deadline_past
from nodes.limits.recorder import read_outside
from nodes.limits.run_scope import enforce_stop
from nodes.limits.stop_requests import TaskStopped
from nodes.telemetry.events import emit
from state import Context, Report, WorkerState


async def await_inputs(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    dispatch: Dispatch,
) -> WorkerState:
    """Collect the inputs, or hold the task when a required one will not come.

    A held task is returned as it was; the supervisor decides what becomes of it. So is a task that
    a later version of the plan has changed or dropped. One that a human stops waits no longer.
    """
    task, known = state["task"], state.get("known", {})
    needed = [edge.task for edge in task.depends_on if edge.task not in known]
    missing = [name for name in needed if not dispatch.is_settled(name)]
    if missing := read_outside("missing", lambda: missing, config, usual=[]):
        await emit("awaiting", task=task.id, worker=task.worker, tasks=missing)
    arrived: dict[str, Report] | None = {}
    wait = partial(dispatch.wait_for_inputs, task.id, needed, version=state.get("plan_version", 1))
    try:
        async with enforce_stop(config, task.id):
            arrived = await _wait_until_deadline(wait, config)
    except TaskStopped:  # the next step skips it
        return {"inputs": {}, "description": task.description, "attempts": {}}
    except TimeoutError:
        pass
    if arrived is None:
        return {"released": True}
    reports = {**known, **arrived}
    lacks = any(
        edge.task not in reports or (edge.required and reports[edge.task].status != "completed")
        for edge in task.depends_on
    )
    is_held = dispatch.is_stopped and task.id not in dispatch.started
    if lacks or is_held:
        dispatch.release(task.id)
        return {"released": True, "steps": {task.id: 0}}
    return {"inputs": reports, "description": task.description, "attempts": {}}


async def _wait_until_deadline(
    wait: Callable[[], Awaitable[dict[str, Report] | None]], config: RunnableConfig
) -> dict[str, Report] | None:
    """Return the reports that a task waits for, None if it need not wait.

    Raises:
        TimeoutError: the run's deadline has passed, which may have been moved meanwhile.
    """
    while True:
        try:
            async with asyncio.timeout(get_remaining_s(config)):
                return await wait()
        except TimeoutError:
            if is_deadline_past(config):
                raise


def after_await_inputs(state: WorkerState) -> Literal["act", "__end__"]:
    """A held task ends here."""
    return "__end__" if state.get("released") else "act"
