"""A worker's compiled graph; a first attempt that succeeds does not need to enter it."""

from collections.abc import AsyncIterator
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.graph.state import CompiledStateGraph

from graph.topology.drawing import DrawnGraph
from graph.topology.first_attempt import FirstAttempt
from graph.topology.node_config import has_saved_steps, is_streaming_steps
from nodes.schemas.team import SPECIALIST, Worker
from state import Assignment, Context, WorkerOutput, WorkerState


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
