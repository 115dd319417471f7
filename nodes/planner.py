"""Asking for a plan until one is valid."""

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from pydantic import ValidationError

from nodes.checks.plan import may_divide, problems
from nodes.errors import BadResponse, ModelError, PlanInvalid
from nodes.events import emit
from nodes.models.ask import Unreadable, ask, sentences
from nodes.models.reader import Unfit, read_object
from nodes.prompts import problem_message, shortened
from state import SPECIALIST, Plan, Team, Usage

MAX_CAUSE_CHARS = 1_200
"""Of what was wrong with the last plan, in the error that ends a run."""


async def make_plan(
    model: BaseChatModel,
    team: Team,
    messages: Sequence[AnyMessage],
    *,
    max_tasks: int,
    materials: Collection[str],
    adopt: Callable[[Plan], Plan] = lambda plan: plan,
) -> tuple[Plan, Usage]:
    """Ask for a plan; send what is wrong with it back, `team.max_plan_repairs` times at most.

    A worker that the team still does not have in the last plan falls to its generalist, or to a
    specialist where it has none and recruits.

    Args:
        adopt: makes the plan to be checked out of the one that was given.

    Raises:
        PlanInvalid: the last plan is still refused.
        ModelError: the planner cannot be reached.
    """
    closed = plan_parameters(
        tuple(worker.name for worker in team.roster), may_divide=may_divide(team)
    )
    asking, spent = list(messages), Usage()
    last: Plan | None = None
    for _ in range(team.max_plan_repairs + 1):
        try:
            reply = await ask(model, Plan, asking, parameters=closed)
            usage, said, last = reply.usage, reply.value.model_dump_json(), reply.value
            plan, wrong = _checked(adopt, reply.value, team, max_tasks, materials)
        except Unreadable as error:
            plan, usage, said, wrong = None, error.usage, error.said, list(error.problems)
        except ModelError as error:
            usage = error.usage or Usage()
            if not isinstance(error, BadResponse) or not error.said:
                error.usage = spent + usage
                raise
            plan, said, wrong = None, error.said, _unread(error)
        spent += usage
        if plan is not None:
            return plan, spent
        await emit("plan_rejected", problems=wrong, plan=said)
        asking += [AIMessage(shortened(said, 20_000)), problem_message(wrong)]
    if last is not None and (team.generalist or team.recruit):
        plan, wrong = _checked(
            lambda given: adopt(_generalized(given, team)), last, team, max_tasks, materials
        )
        if plan is not None:
            return plan, spent
    refused = PlanInvalid(
        f"no valid plan after {team.max_plan_repairs} repairs",
        cause=f"{'; '.join(wrong)[:MAX_CAUSE_CHARS]} (the last plan began: {said[:200]})",
        next="say the request in other words, or give the strong tier a stronger model",
    )
    refused.usage = spent
    raise refused


def _checked(
    adopt: Callable[[Plan], Plan],
    given: Plan,
    team: Team,
    max_tasks: int,
    materials: Collection[str],
) -> tuple[Plan | None, list[str]]:
    try:
        plan = adopt(given)
    except ValidationError as error:
        return None, sentences(error)
    wrong = problems(plan, team, max_tasks=max_tasks, materials=materials)
    return (None if wrong else plan), wrong


def _unread(error: BadResponse) -> list[str]:
    """Say what is wrong with the arguments of a call that could not be taken for one."""
    try:
        read_object(error.said)
    except Unfit as unfit:
        return [f"the arguments of Plan: {unfit}"]
    return [error.what]


def _generalized(plan: Plan, team: Team) -> Plan:
    """Give the tasks of workers that the team does not have to one who takes any."""
    known = {worker.name for worker in team.roster}
    anyone = {"worker": team.generalist or SPECIALIST}
    tasks = tuple(
        task if task.worker in known else task.model_copy(update=anyone) for task in plan.tasks
    )
    return plan.model_copy(update={"tasks": tasks})


@cache
def plan_parameters(workers: tuple[str, ...], *, may_divide: bool) -> dict[str, Any]:
    """Give the schema of a plan whose vocabulary of workers is closed."""
    schema = Plan.model_json_schema()
    task = schema["$defs"]["Task"]["properties"]
    task["worker"]["enum"] = list(workers)
    if not may_divide:
        del task["is_compound"]
    return schema
