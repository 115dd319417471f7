"""Nodes that know their team, and compiled graphs of a class of our own."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from nodes.schemas.team import Team
from state import Context, SupervisorState

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
