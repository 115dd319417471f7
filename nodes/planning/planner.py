"""Asks for a plan until one is valid."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from pydantic import ValidationError

from nodes.errors import BadResponse, ModelError, PlanInvalid
from nodes.models.structured.json_reading import InvalidJson, read_json_object
from nodes.models.structured_output import UnreadableReply, ask_model, describe_validation_errors
from nodes.planning.validation import list_plan_problems, list_vague_tasks, may_divide
from nodes.prompts.messages import build_problem_message
from nodes.prompts.tags import shorten_text
from nodes.schemas.team import SPECIALIST, Team
from nodes.telemetry.events import emit
from state import Plan, Usage

MAX_CAUSE_CHARS = 1_200
"""Limit for the problems of the last plan, in the error that ends a run."""


async def make_plan(
    model: BaseChatModel,
    team: Team,
    messages: Sequence[AnyMessage],
    *,
    max_tasks: int,
    materials: Collection[str],
    adopt: Callable[[Plan], Plan] = lambda plan: plan,
    finished: Collection[str] = (),
) -> tuple[Plan, Usage]:
    """Return a valid plan; an invalid one is sent back at most `team.max_plan_repairs` times.

    Vague tasks are sent back once; after that a plan with no other fault is accepted, as it is when
    no better one comes. Unknown workers in the last plan are replaced by the team's generalist, or
    by a specialist where the team has no generalist and recruits.

    Args:
        adopt: makes the plan that is checked from the plan that the model proposed.
        finished: ids of tasks that have a result, whose descriptions can no longer change.

    Raises:
        PlanInvalid: the last plan is still refused.
        ModelError: the planner cannot be reached.
    """
    check = _PlanCheck(team, max_tasks, materials, adopt, finished)
    prompt, spent, was_sent_back = list(messages), Usage(), False
    sound: Plan | None = None
    last: Plan | None = None
    for repairs in range(team.max_plan_repairs, -1, -1):
        try:
            reply = await _ask_once(model, prompt, check)
        except ModelError as error:
            error.usage = spent + (error.usage or Usage())
            if sound is None:
                raise
            await emit("error", code=error.code, message=f"vague tasks are not repaired: {error}")
            return sound, error.usage
        spent += reply.usage
        if reply.plan and (was_sent_back or not reply.vague_tasks or not repairs):
            return reply.plan, spent
        sound, last = reply.plan or sound, reply.proposed_plan or last
        was_sent_back = was_sent_back or bool(reply.vague_tasks)
        problems = [*reply.problems, *reply.vague_tasks]
        await emit("plan_rejected", problems=problems, plan=reply.reply_text)
        sent_back = build_problem_message(problems)
        prompt += [AIMessage(shorten_text(reply.reply_text, 20_000)), sent_back]
    plan = sound or _replace_unknown_workers(last, check)
    if plan is None:
        raise _build_plan_error(check, last, problems, reply.reply_text, spent)
    return plan, spent


@dataclass(frozen=True)
class _PlanCheck:
    """The checks on a plan."""

    team: Team
    max_tasks: int
    materials: Collection[str]
    adopt: Callable[[Plan], Plan]
    finished: Collection[str]

    def __call__(self, given: Plan) -> tuple[Plan | None, list[str], list[str]]:
        """Return the plan to run, None when it is invalid; its problems; its vague tasks."""
        try:
            plan = self.adopt(given)
        except ValidationError as error:
            return None, describe_validation_errors(error), []
        problems = list_plan_problems(
            plan, self.team, max_tasks=self.max_tasks, materials=self.materials
        )
        # A plan of thousands of tasks is refused for its size alone.
        open_tasks = [task for task in plan.tasks if task.id not in self.finished]
        vague = list_vague_tasks(open_tasks) if len(plan.tasks) <= self.max_tasks else []
        return (None if problems else plan), problems, vague


@dataclass(frozen=True)
class _PlanReply:
    """The result of asking for a plan once."""

    reply_text: str
    usage: Usage
    proposed_plan: Plan | None = None
    """As the model wrote it."""
    plan: Plan | None = None
    """The plan to run; None when it is invalid."""
    problems: Sequence[str] = ()
    vague_tasks: Sequence[str] = ()


async def _ask_once(
    model: BaseChatModel, messages: Sequence[AnyMessage], check: _PlanCheck
) -> _PlanReply:
    """Return the reply to one request for a plan, checked.

    Raises:
        ModelError: the planner cannot be reached.
    """
    closed = build_plan_schema(
        tuple(worker.name for worker in check.team.roster), may_divide=may_divide(check.team)
    )
    try:
        reply = await ask_model(model, Plan, messages, parameters=closed)
    except UnreadableReply as error:
        return _PlanReply(error.reply_text, error.usage, problems=error.problems)
    except BadResponse as error:
        if not error.reply_text:
            raise
        return _PlanReply(
            error.reply_text, error.usage or Usage(), problems=_describe_bad_arguments(error)
        )
    plan, problems, vague = check(reply.value)
    text = reply.value.model_dump_json()
    return _PlanReply(text, reply.usage, reply.value, plan, problems, vague)


def _build_plan_error(
    check: _PlanCheck, last: Plan | None, problems: Sequence[str], reply: str, spent: Usage
) -> PlanInvalid:
    error = PlanInvalid(
        f"no valid plan after {check.team.max_plan_repairs} repairs",
        cause=f"{'; '.join(problems)[:MAX_CAUSE_CHARS]} (the last plan began: {reply[:200]})",
        next=_suggest_next_step(last, check.team, check.max_tasks),
    )
    error.usage = spent
    return error


def _suggest_next_step(last: Plan | None, team: Team, max_tasks: int) -> str:
    """Return the advice for the user: the exceeded cap if there is one, else other words."""
    if last is not None and len(last.tasks) > max_tasks:
        where = "in team.md or the run's settings"
        return f"raise max_tasks, which is {max_tasks}, {where}, or ask for less at once"
    if last is not None and last.measure_depth() > team.max_depth:
        return f"raise max_depth, which is {team.max_depth}, in team.md, or ask for fewer steps"
    return "say the request in other words, or give the strong tier a stronger model"


def _describe_bad_arguments(error: BadResponse) -> list[str]:
    """Return the problems of tool-call arguments that could not be parsed."""
    try:
        read_json_object(error.reply_text)
    except InvalidJson as unfit:
        return [f"the arguments of Plan: {unfit}"]
    return [error.what]


def _replace_unknown_workers(plan: Plan | None, check: _PlanCheck) -> Plan | None:
    """Return a plan with unknown workers replaced; None where it still cannot run."""
    team = check.team
    if plan is None or not (team.generalist or team.recruit):
        return None
    known = {worker.name for worker in team.roster}
    replacement = {"worker": team.generalist or SPECIALIST}
    tasks = tuple(
        task if task.worker in known else task.model_copy(update=replacement) for task in plan.tasks
    )
    return check(plan.model_copy(update={"tasks": tasks}))[0]


@cache
def build_plan_schema(workers: tuple[str, ...], *, may_divide: bool) -> dict[str, Any]:
    """Return the schema of a plan that accepts only these workers."""
    schema = Plan.model_json_schema()
    task = schema["$defs"]["Task"]["properties"]
    task["worker"]["enum"] = list(workers)
    if not may_divide:
        del task["is_compound"]
    return schema
