"""The graph in which the monitor revises a plan while tasks of its former version are at work.

START → revise ══Send══▶ a node for each worker ──▶ END
                └──────▶ monitor ──▶ END

Its tasks join the dispatch of the superstep around it. Its monitor may revise once more, inside.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import PregelTask, StateSnapshot

from graph.topology.node_config import apply_context
from graph.topology.worker_graph import WorkerGraph
from nodes.execution.dispatch_registry import MONITOR, DispatchRegistry, get_dispatch_namespace
from nodes.limits.langgraph_keys import CHECKPOINTER_KEY
from nodes.limits.run_scope import SCOPE_KEY, get_run_scope
from nodes.models.catalog import ModelCatalog
from nodes.monitor import monitor
from nodes.revise import after_revise, revise
from nodes.schemas.team import Team
from state import Assignment, Context, SupervisorState

PASSED_ON = (
    "plan",
    "plans",
    "results",
    "steps",
    "ledger",
    "origin",
    "revisions",
    "stalls",
    "completed_at_last_revision",
    "answered_objections",
    "doubts",
)
"""What the supervisor's state takes from a revision."""


class Revision:
    """Builds the graph and runs it inside the monitor.

    LangGraph does not see it as the monitor's subgraph: one that may contain itself cannot be
    drawn. So `attach` adds what it has saved to a snapshot.
    """

    def __init__(
        self,
        team: Team,
        *,
        models: ModelCatalog,
        dispatches: DispatchRegistry,
        workers: Mapping[str, WorkerGraph],
    ) -> None:
        parts: dict[str, Any] = {"models": models, "dispatches": dispatches}
        self.monitor = apply_context(partial(monitor, **parts, run_revision=self.run), team)
        builder = StateGraph(SupervisorState, context_schema=Context)
        builder.add_node("revise", apply_context(partial(revise, **parts), team))
        for name, worker in workers.items():
            builder.add_node(name, worker, input_schema=Assignment)
            builder.add_edge(name, END)
        builder.add_node(MONITOR, self.monitor)
        builder.add_edge(START, "revise")
        builder.add_conditional_edges("revise", after_revise, [*workers, MONITOR])
        builder.add_edge(MONITOR, END)
        self.graph: CompiledStateGraph[Any, Context, Any, Any] = builder.compile(name="revision")

    async def run(self, state: SupervisorState, config: RunnableConfig) -> SupervisorState:
        """Revise the plan and do its new tasks; return what the supervisor's state takes from it.

        After a crash it continues where it was.
        """
        scope = replace(get_run_scope(config), dispatch_ns=get_dispatch_namespace(config))
        configurable = {**config["configurable"], SCOPE_KEY: scope}
        final = await self.graph.ainvoke(state, {**config, "configurable": configurable})
        return {name: final[name] for name in PASSED_ON if name in final}  # type: ignore[return-value]  # a part of the state

    async def attach(
        self, snapshot: StateSnapshot, checkpointer: BaseCheckpointSaver[Any]
    ) -> StateSnapshot:
        """Return a snapshot in which the monitor's task has the state of its revision, if any."""
        tasks = [
            await self._attach_to_task(task, snapshot.config, checkpointer)
            for task in snapshot.tasks
        ]
        return snapshot._replace(tasks=tuple(tasks))

    async def _attach_to_task(
        self, task: PregelTask, config: RunnableConfig, checkpointer: BaseCheckpointSaver[Any]
    ) -> PregelTask:
        if task.name != MONITOR or task.result is not None:
            return task
        around = config["configurable"]
        own_ns = f"{MONITOR}:{task.id}"
        if outer_ns := around.get("checkpoint_ns"):
            own_ns = f"{outer_ns}|{own_ns}"
        configurable = {
            "thread_id": around["thread_id"],
            "checkpoint_ns": own_ns,
            CHECKPOINTER_KEY: checkpointer,
        }
        inner = await self.graph.aget_state({"configurable": configurable}, subgraphs=True)
        if not inner.values:
            return task
        return task._replace(state=await self.attach(inner, checkpointer))
