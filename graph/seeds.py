"""Reading, after a crash, the reports that an unfinished dispatch has already saved."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from graph.supervisor_graph import SupervisorGraph
from state import Report


class SavedReports:
    """The reports in a graph's checkpoint; the graph is set once it is compiled."""

    graph: SupervisorGraph

    async def read(self, config: RunnableConfig) -> dict[str, Report]:
        """Give the reports of the finished tasks of the superstep at a config's checkpoint.

        Without a checkpointer there is nothing to resume, hence nothing to read.
        """
        if "thread_id" not in config["configurable"]:
            return {}
        return harvest(await self.graph.aget_state(config, subgraphs=True))


def harvest(snapshot: StateSnapshot) -> dict[str, Report]:
    """Collect the reports that an unfinished superstep has saved, at every depth.

    A worker whose last step was saved, but not yet the end of its graph, runs no step again.
    """
    found: dict[str, Report] = {}
    for task in snapshot.tasks:
        found |= _reports(task.result)
        if isinstance(task.state, StateSnapshot):
            found |= _reports(task.state.values) | harvest(task.state)
    return found


def _reports(values: Mapping[str, Any] | Any) -> dict[str, Report]:
    return dict(values.get("results") or {}) if isinstance(values, Mapping) else {}
