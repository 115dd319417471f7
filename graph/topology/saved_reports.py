"""Reads what an unfinished dispatch saved before a crash."""

from langchain_core.runnables import RunnableConfig

from graph.topology.early_save import read_early_outputs
from graph.topology.pending_writes import (
    collect_asking_nodes,
    collect_held_tasks,
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
        monitors = [task for task in snapshot.tasks if task.name == MONITOR]
        saver = self.graph.find_checkpointer(config)
        outputs = {} if saver is None else await read_early_outputs(saver, snapshot)
        early = {name: output["results"][name] for name, output in outputs.items()}
        return SavedDispatch(
            {**early, **collect_pending_reports(snapshot)},
            collect_started_tasks(snapshot),
            collect_pending_revisions(snapshot),
            outputs,
            collect_asking_nodes(snapshot),
            is_monitored=any(task.result is None for task in monitors),
            has_monitor_ended=any(task.result is not None for task in monitors),
            held=collect_held_tasks(snapshot),
            materials=snapshot.values.get("materials", {}),
        )
