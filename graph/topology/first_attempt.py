"""A worker's first attempt at a task: its three steps, called one after another.

A graph of their own would cost some milliseconds of processor time and several checkpoints a task,
for steps that always follow one another.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.runtime import Runtime

from graph.topology.node_config import build_step_config
from graph.topology.saved_work import EarlySave
from nodes.execution.dispatch import Dispatch
from nodes.execution.dispatch_registry import DispatchRegistry
from nodes.limits.langgraph_keys import RUNTIME_KEY, TASK_ID_KEY
from nodes.telemetry.events import emit
from state import Assignment, Context, WorkerOutput, WorkerState

WorkerStep = Callable[..., Awaitable[WorkerState]]
"""Takes the state, the config and the runtime, and the dispatch by keyword."""
STEP: Final = "act:first"
"""The last part of the namespace of what the attempt runs."""


@dataclass(frozen=True)
class FirstAttempt:
    """The steps of a worker's graph until the first report, or the first need of recovery."""

    await_inputs: WorkerStep
    act: WorkerStep
    assess: WorkerStep
    dispatches: DispatchRegistry

    async def run(
        self, assignment: Assignment, config: RunnableConfig, *, may_begin: bool
    ) -> WorkerState | None:
        """Return the state after the attempt.

        With `results` the task has its report; with `change` it continues at that rung; with
        neither it goes back to the supervisor.

        Args:
            may_begin: make the attempt; otherwise only what was saved early is returned, or None.
                One that waits for a human continues as it began, whatever the caller streams now.
        """
        state: WorkerState = {**assignment}  # type: ignore[typeddict-item]  # mypy knows no spread
        inner = build_step_config(config, STEP)
        token = var_child_runnable_config.set(inner)
        try:
            runtime = inner["configurable"][RUNTIME_KEY]
            dispatch = await self.dispatches.join(runtime, inner, steps_left=state["steps_left"])
            if saved := dispatch.saved_outputs.get(state["task"].id):
                return await _restore_output(state, saved)
            is_begun = inner["configurable"][TASK_ID_KEY] in dispatch.asking
            may_begin = may_begin or is_begun
            return await self._run_steps(state, inner, dispatch) if may_begin else None
        finally:
            var_child_runnable_config.reset(token)

    async def _run_steps(
        self, state: WorkerState, config: RunnableConfig, dispatch: Dispatch
    ) -> WorkerState:
        runtime, task = config["configurable"][RUNTIME_KEY], state["task"].id
        if config["configurable"][TASK_ID_KEY] in dispatch.asking:
            dispatch.started.add(task)
        parts: dict[str, Any] = {"dispatch": dispatch}
        state = _merge(state, await self.await_inputs(state, config, runtime, **parts))
        if state.get("released"):
            return state
        state = _merge(state, await self.act(state, config, runtime, **parts))
        if state.get("released") or task in state.get("results", {}):
            return state
        parts["save"] = EarlySave(config, state.get("steps", {}))
        return _merge(state, await self.assess(state, config, runtime, **parts))


async def _restore_output(state: WorkerState, saved: WorkerOutput) -> WorkerState:
    """Return the state with what the task had returned before a crash, and emit its report."""
    task = state["task"].id
    report = saved["results"][task]
    dumped = report.model_dump(mode="json")
    await emit("report", task=task, worker=report.worker, report=dumped)
    return {**state, **saved}


def _merge(state: WorkerState, update: WorkerState) -> WorkerState:
    """Return the state with an update; in a first attempt no step adds to another's values."""
    return {**state, **update}


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
