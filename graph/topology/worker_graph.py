"""A worker's compiled graph, which waits for its turn to start."""

from collections.abc import AsyncIterator
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime

from nodes.execution.dispatch import LoadSavedReports, join_dispatch_before_start
from state import Assignment, Context, WorkerOutput, WorkerState


class WorkerGraph(CompiledStateGraph[WorkerState, Context, Assignment, WorkerOutput]):
    """Starts in turn with the other workers of its dispatch; after that all run in parallel."""

    seeds: LoadSavedReports

    @classmethod
    def from_compiled(
        cls, graph: CompiledStateGraph[Any, Any, Any, Any], *, seeds: LoadSavedReports
    ) -> Self:
        """Return a compiled graph as this class; LangGraph has no option for the class."""
        graph.__class__ = cls
        made = cast(Self, graph)
        made.seeds = seeds
        return made

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream the work on one assignment; its first step lets the next worker start."""
        assignment = cast(Assignment, input)
        task = assignment["task"].id
        assert config is not None, "a worker runs inside its supervisor's graph"
        meeting = await join_dispatch_before_start(
            get_runtime(Context), config, allowance=assignment["steps_left"], seeds=self.seeds
        )
        # While events are streamed, a node's graph is streamed too, and would emit its whole state.
        kwargs["output_keys"] = kwargs.get("output_keys") or self.output_channels
        await meeting.wait_to_start(task)
        try:
            async for part in super().astream(input, config, **kwargs):
                yield part
        finally:
            meeting.finish_start(task)
