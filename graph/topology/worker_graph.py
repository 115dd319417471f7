"""A worker's compiled graph, and the first attempt at a task, which need not enter it.

A graph costs some milliseconds of processor time and several checkpoints a task, for steps that
always follow one another.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs, var_child_runnable_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from graph.topology.drawing import DrawnGraph
from graph.topology.node_config import build_step_config, has_saved_steps, is_streaming_steps
from graph.topology.saved_work import EarlySave
from nodes.execution.dispatch import Dispatch
from nodes.execution.dispatch_registry import DispatchRegistry
from nodes.limits.langgraph_keys import RUNTIME_KEY, TASK_ID_KEY
from nodes.schemas.team import SPECIALIST, Worker
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
    steps: Mapping[str, WorkerStep], dispatches: DispatchRegistry
) -> Any:  # a node; LangGraph's types of nodes are private
    """Return a node that joins its task's dispatch, and runs the step of its task's worker."""

    async def run_step(
        state: WorkerState, config: RunnableConfig, runtime: Runtime[Context]
    ) -> WorkerState:
        dispatch = await dispatches.join(runtime, config, steps_left=state["steps_left"])
        step = steps[state["task"].worker]
        return await step(state, config, runtime, dispatch=dispatch)

    return run_step


class WorkerGraph(DrawnGraph, CompiledStateGraph[WorkerState, Context, Assignment, WorkerOutput]):
    """Makes the first attempt at a task as plain calls; a recovery rung continues in the graph.

    The graph's own nodes do all of it where a caller streams the steps of inner graphs, as Studio
    does, and where a run continues steps that the graph has saved. A task of a team, of a
    specialist or of several parts has inner graphs of its own, and is done in the graph too, as is
    one of a remote worker, whose questions are answered by their ids.
    """

    worker: Worker
    first_attempt: FirstAttempt

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Work on one assignment, and return its `WorkerOutput`."""
        assert config is not None, "a worker runs inside its supervisor's graph"
        assignment = cast(Assignment, input)
        config = self._label_runs(assignment, config)
        if self._has_inner_graphs(assignment) or await has_saved_steps(config):
            return await super().ainvoke(input, config, **kwargs)
        state = await self.first_attempt.run(
            assignment, config, may_begin=not is_streaming_steps(config)
        )
        if state is None:
            return await super().ainvoke(input, config, **kwargs)
        if "change" in state:
            return await super().ainvoke(state, config, **kwargs)
        return {name: state[name] for name in WorkerOutput.__annotations__ if name in state}  # type: ignore[literal-required]  # its own keys

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream the work on one assignment, step by step."""
        # While events are streamed, a node's graph is streamed too, and would emit its whole state.
        kwargs["output_keys"] = kwargs.get("output_keys") or self.output_channels
        if config is not None:
            config = self._label_runs(cast(Assignment, input), config)
        async for part in super().astream(input, config, **kwargs):
            yield part

    def _label_runs(self, assignment: Assignment, config: RunnableConfig) -> RunnableConfig:
        """Return the config with what traces call this graph, and with its task."""
        task = assignment["task"].id
        metadata: dict[str, Any] = {"task": task, "worker": self.worker.name}
        if "plan_version" in assignment:
            metadata["plan_version"] = assignment["plan_version"]
        named: RunnableConfig = {"run_name": f"steps: {task}", "metadata": metadata}
        return merge_configs(config, named)

    def _has_inner_graphs(self, assignment: Assignment) -> bool:
        is_specialist = self.worker.name == SPECIALIST
        is_elsewhere = self.worker.team is not None or self.worker.remote is not None
        return is_elsewhere or is_specialist or assignment["task"].is_compound
