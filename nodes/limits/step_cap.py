"""The step cap: attempts at tasks, over the whole run."""

from nodes.schemas.team import Team
from state import Context, SupervisorState


def count_steps_left(state: SupervisorState, context: Context, team: Team) -> int:
    """Return the attempts that the step cap still allows."""
    limit = team.max_steps if context.max_steps is None else context.max_steps
    return limit - sum(state.get("steps", {}).values())
