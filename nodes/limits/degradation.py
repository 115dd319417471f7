"""What a run does without when it nears its deadline or its budget: all that it can."""

from langchain_core.runnables import RunnableConfig

from nodes.limits.deadline import is_deadline_near
from nodes.limits.run_scope import get_run_scope
from state import Plan, Tier

CHEAPEST_TIER: Tier = "fast"


def should_degrade(config: RunnableConfig) -> bool:
    """Return whether most of the run's time, tokens or money for work is used up."""
    budget = get_run_scope(config).budget
    return is_deadline_near(config) or (budget is not None and budget.is_low())


def find_optional_tasks(plan: Plan) -> frozenset[str]:
    """Name the tasks that others want, but that none of them needs."""
    wanted = {edge.task for task in plan.tasks for edge in task.depends_on}
    needed = {edge.task for task in plan.tasks for edge in task.depends_on if edge.required}
    return frozenset(wanted - needed)
