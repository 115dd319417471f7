"""What each node of the supervisor's graph does before its own work."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.limits.run_scope import get_run_scope
from nodes.schemas.team import Team
from state import Context, SupervisorState

SupervisorStep = Callable[..., Awaitable[SupervisorState]]
"""Takes the state, the config and the runtime, and the team by keyword."""


def apply_context(
    step: SupervisorStep, team: Team
) -> Any:  # a node; LangGraph's types of nodes are private
    """Return a node that runs a step with the team as the run's context changes it.

    A team inside a task keeps its own strategy and critic.
    """

    async def run_step(
        state: SupervisorState, config: RunnableConfig, runtime: Runtime[Context]
    ) -> SupervisorState:
        is_inner = bool(get_run_scope(config).outer_task)
        used = team if is_inner else team.apply_context(runtime.context)
        return await step(state, config, runtime, team=used)

    return run_step
