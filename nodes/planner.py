"""Asking for a plan until one is valid."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from nodes.checks.plan import problems
from nodes.errors import PlanInvalid
from nodes.events import emit
from nodes.models.ask import Unreadable, ask
from nodes.prompts import plan_messages, problem_message, shortened
from state import Plan, Team, Usage


async def make_plan(
    model: BaseChatModel,
    team: Team,
    request: str,
    materials: Mapping[str, str],
    *,
    max_tasks: int,
    history: str = "",
) -> tuple[Plan, Usage]:
    """Ask for a plan; send what is wrong with it back, `team.max_plan_repairs` times at most.

    Raises:
        PlanInvalid: the last plan is still refused.
        ModelError: the planner cannot be reached.
    """
    messages = plan_messages(team, request, materials, max_tasks=max_tasks, history=history)
    closed = plan_parameters(tuple(worker.name for worker in team.workers))
    spent = Usage()
    for _ in range(team.max_plan_repairs + 1):
        try:
            reply = await ask(model, Plan, messages, parameters=closed)
            plan, usage, said = reply.value, reply.usage, reply.value.model_dump_json()
            wrong = problems(plan, team, max_tasks=max_tasks, materials=materials)
        except Unreadable as error:
            plan, usage, said, wrong = None, error.usage, error.said, list(error.problems)
        spent += usage
        if plan is not None and not wrong:
            return plan, spent
        await emit("plan_rejected", problems=wrong, plan=said)
        messages += [AIMessage(shortened(said, 20_000)), problem_message(wrong)]
    raise PlanInvalid(
        f"no valid plan after {team.max_plan_repairs} repairs",
        cause=f"{'; '.join(wrong)[:400]} (the last plan began: {said[:200]})",
        next="say the request in other words, or give the strong tier a stronger model",
    )


@cache
def plan_parameters(workers: tuple[str, ...]) -> dict[str, Any]:
    """Give the schema of a plan whose vocabulary of workers is closed."""
    schema = Plan.model_json_schema()
    schema["$defs"]["Task"]["properties"]["worker"]["enum"] = list(workers)
    return schema
