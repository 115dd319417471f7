"""What each node of a worker's graph does before its own work."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from graph.topology.first_attempt import WorkerStep
from nodes.execution.dispatch_registry import DispatchRegistry
from state import Context, WorkerState


def enter_dispatch(
    step: WorkerStep, dispatches: DispatchRegistry
) -> Any:  # a node; LangGraph's types of nodes are private
    """Return a node that joins its task's dispatch, and runs a step."""

    async def run_step(
        state: WorkerState, config: RunnableConfig, runtime: Runtime[Context]
    ) -> WorkerState:
        dispatch = await dispatches.join(runtime, config, steps_left=state["steps_left"])
        return await step(state, config, runtime, dispatch=dispatch)

    return run_step
