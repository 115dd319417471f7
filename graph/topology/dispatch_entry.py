"""What each node of a worker's graph does before its own work."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.execution.dispatch_registry import DispatchRegistry
from state import Context, WorkerState

WorkerStep = Callable[..., Awaitable[WorkerState]]
"""Takes the state, the config and the runtime, and the dispatch by keyword."""


def enter_dispatch(
    step: WorkerStep, dispatches: DispatchRegistry
) -> Any:  # a node; LangGraph's types of nodes are private
    """Return a node that joins its task's dispatch, lets the next worker start, and runs a step."""

    async def run_step(
        state: WorkerState, config: RunnableConfig, runtime: Runtime[Context]
    ) -> WorkerState:
        dispatch = await dispatches.join(runtime, config, steps_left=state["steps_left"])
        dispatch.finish_start(state["task"].id)
        return await step(state, config, runtime, dispatch=dispatch)

    return run_step
