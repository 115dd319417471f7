"""Reads the reports that an unfinished dispatch saved before a crash."""

from langchain_core.runnables import RunnableConfig

from graph.topology.pending_writes import collect_pending_reports
from graph.topology.supervisor_graph import SupervisorGraph
from state import Report


class SavedReports:
    """The reports in a graph's checkpoint; the graph is set once it is compiled."""

    graph: SupervisorGraph

    async def read_reports(self, config: RunnableConfig) -> dict[str, Report]:
        """Return the reports of the finished tasks of the superstep at a config's checkpoint.

        Without a checkpointer there are none.
        """
        if "thread_id" not in config["configurable"]:
            return {}
        return collect_pending_reports(await self.graph.aget_state(config, subgraphs=True))
