"""A worker's compiled graph, which waits for its turn to start."""

from collections.abc import AsyncIterator
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Graph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime

from graph.topology.drawing import Drawing
from nodes.execution.dispatch_registry import DispatchRegistry
from state import Assignment, Context, WorkerOutput, WorkerState


class WorkerGraph(CompiledStateGraph[WorkerState, Context, Assignment, WorkerOutput]):
    """Starts in turn with the other workers of its dispatch; after that all run in parallel."""

    dispatches: DispatchRegistry
    drawing: Drawing

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """Return a drawing in which each edge says why it is taken."""
        return self.drawing.apply(super().get_graph(config, xray=xray))

    async def aget_graph(
        self, config: RunnableConfig | None = None, *, xray: int | bool = False
    ) -> Graph:
        """Return the same drawing; a server, and so Studio, calls this."""
        return self.drawing.apply(await super().aget_graph(config, xray=xray))

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream the work on one assignment; its first step lets the next worker start."""
        assignment = cast(Assignment, input)
        task = assignment["task"].id
        assert config is not None, "a worker runs inside its supervisor's graph"
        dispatch = await self.dispatches.join_before_start(
            get_runtime(Context), config, steps_left=assignment["steps_left"]
        )
        # While events are streamed, a node's graph is streamed too, and would emit its whole state.
        kwargs["output_keys"] = kwargs.get("output_keys") or self.output_channels
        await dispatch.wait_to_start(task)
        try:
            async for part in super().astream(input, config, **kwargs):
                yield part
        finally:
            dispatch.finish_start(task)
