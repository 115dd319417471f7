"""What each node of the supervisor's graph does before its own work."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.schemas.team import Team
from state import Context, SupervisorState

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
