"""Reads what an unfinished dispatch saved before a crash."""

from langchain_core.runnables import RunnableConfig

from graph.topology.pending_writes import (
    collect_pending_reports,
    collect_pending_revisions,
    collect_started_tasks,
)
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.execution.dispatch_registry import MONITOR, SavedDispatch


class SavedReports:
    """The reports in a graph's checkpoint; the graph is set once it is compiled."""

    graph: SupervisorGraph

    async def read(self, config: RunnableConfig) -> SavedDispatch:
        """Return what the superstep at a config's checkpoint has saved.

        Without a checkpointer there is nothing.
        """
        if "thread_id" not in config["configurable"]:
            return SavedDispatch()
        snapshot = await self.graph.aget_state(config, subgraphs=True)
        return SavedDispatch(
            collect_pending_reports(snapshot),
            collect_started_tasks(snapshot),
            collect_pending_revisions(snapshot),
            any(task.name == MONITOR and task.result is None for task in snapshot.tasks),
            snapshot.values.get("materials", {}),
        )
