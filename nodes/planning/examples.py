"""The examples of a team that are nearest to a request."""

from collections.abc import Collection

from nodes.proof import find_file_names
from nodes.schemas.team import Example, Team
from nodes.text.similarity import rank_examples

MAX_EXAMPLES = 2
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


def keep_near_plans(team: Team, request: str, materials: Collection[str]) -> Team:
    """Return the team with the one or two examples of plans nearest to a request, that one last.

    None names a file that the request does not come with: a model would name it, too.
    """
    fitting = [each for each in team.examples if _list_files(each) <= {*materials}]
    ranked = rank_examples(request, [each.request for each in fitting])
    kept = [fitting[at] for at, is_near in ranked[:MAX_EXAMPLES] if is_near]
    kept = kept or [fitting[at] for at, _ in ranked[:1]]
    return team.model_copy(update={"examples": tuple(reversed(kept))})


def _list_files(example: Example) -> set[str]:
    """Return the files that an example's plan needs or names."""
    tasks = example.plan.tasks
    words = " ".join([example.request, *(task.description for task in tasks)])
    return {name for task in tasks for name in task.materials} | {*find_file_names(words)}


def keep_plan_examples(team: Team) -> Team:
    """Return the team with the examples of several tasks, for a request that needs a plan."""
    kept = tuple(example for example in team.examples if len(example.plan.tasks) > 1)
    return team.model_copy(update={"examples": kept})
