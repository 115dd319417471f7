"""The examples of a team that are nearest to a request."""

from nodes.schemas.team import Team
from nodes.text.similarity import rank_examples

MAX_EXAMPLES = 3
"""Limit of examples of plans in a prompt: more cost tokens, and a small model copies them."""
MAX_ROUTE_EXAMPLES = 12
"""Limit of examples of routes, which are short."""


def keep_nearest_examples(team: Team, request: str, limit: int) -> Team:
    """Return the team with the examples that are nearest to a request, the nearest first."""
    if len(team.examples) <= limit:
        return team
    ranked = rank_examples(request, [example.request for example in team.examples])
    nearest = tuple(team.examples[index] for index, _ in ranked[:limit])
    return team.model_copy(update={"examples": nearest})


def keep_plan_examples(team: Team) -> Team:
    """Return the team with the examples of several tasks, for a request that needs a plan."""
    kept = tuple(example for example in team.examples if len(example.plan.tasks) > 1)
    return team.model_copy(update={"examples": kept})
