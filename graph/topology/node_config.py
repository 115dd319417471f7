"""What LangGraph tells a running node by its config, and nodes that know their team."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from typing import Any, Final, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from nodes.limits.langgraph_keys import (
    CHECKPOINTER_KEY,
    DURABILITY_KEY,
    RESUMING_KEY,
    RUNTIME_KEY,
    SCRATCHPAD_KEY,
    STREAM_KEY,
)
from nodes.schemas.team import Team
from state import Context, SupervisorState

NAMESPACE_KEY: Final = "checkpoint_ns"


def is_streaming_steps(config: RunnableConfig) -> bool:
    """Return whether a caller streams the steps of inner graphs."""
    return config["configurable"].get(STREAM_KEY) is not None


def get_checkpointer(config: RunnableConfig) -> BaseCheckpointSaver[Any] | None:
    """Return the checkpointer that saves the node's run while it runs; None without one."""
    configurable = config["configurable"]
    is_saved_at_exit = configurable.get(DURABILITY_KEY) == "exit"
    return None if is_saved_at_exit else configurable.get(CHECKPOINTER_KEY)


async def has_saved_steps(config: RunnableConfig) -> bool:
    """Return whether the graph of a node that runs again, after a crash say, has a checkpoint."""
    configurable = config["configurable"]
    saver: BaseCheckpointSaver[Any] | None = configurable.get(CHECKPOINTER_KEY)
    if saver is None or not configurable.get(RESUMING_KEY):
        return False
    at = {name: configurable[name] for name in ("thread_id", NAMESPACE_KEY)}
    return await saver.aget_tuple({"configurable": at}) is not None


def build_step_config(config: RunnableConfig, step: str) -> RunnableConfig:
    """Return the config of a step that a node calls, as if the step were a node of an inner graph.

    Its events and tokens reach those who stream inner graphs, and a graph that it calls has a
    namespace of its own.
    """
    configurable = config["configurable"]
    namespace = f"{configurable.get(NAMESPACE_KEY, '')}|{step}"
    runtime: Runtime[Context] = configurable[RUNTIME_KEY]
    changed = {
        NAMESPACE_KEY: namespace,
        RUNTIME_KEY: replace(runtime, stream_writer=_ignore),
        SCRATCHPAD_KEY: replace(configurable[SCRATCHPAD_KEY], subgraph_counter=count().__next__),
    }
    metadata = {**config.get("metadata", {}), "langgraph_checkpoint_ns": namespace}
    return {**config, "configurable": {**configurable, **changed}, "metadata": metadata}


def _ignore(_: Any) -> None:
    """Write no event of an inner step to those who stream the outer graph alone."""


GraphT = TypeVar("GraphT", bound=CompiledStateGraph[Any, Any, Any, Any])


def change_class(graph: CompiledStateGraph[Any, Any, Any, Any], kind: type[GraphT]) -> GraphT:
    """Return a compiled graph as one of a subclass; LangGraph has no option for it."""
    graph.__class__ = kind
    assert isinstance(graph, kind)
    return graph


SupervisorStep = Callable[..., Awaitable[SupervisorState]]
"""Takes the state, the config and the runtime, and the team by keyword."""


def apply_context(
    step: SupervisorStep, team: Team
) -> Any:  # a node; LangGraph's types of nodes are private
    """Return a node that runs a step with the team as the run's context changes it."""

    async def run_step(
        state: SupervisorState, config: RunnableConfig, runtime: Runtime[Context]
    ) -> SupervisorState:
        return await step(state, config, runtime, team=team.apply_context(runtime.context))

    return run_step
