"""Asking for a plan until one is valid."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from pydantic import ValidationError

from nodes.errors import BadResponse, ModelError, PlanInvalid
from nodes.models.json_reading import InvalidJson, read_json_object
from nodes.models.structured_output import UnreadableReply, ask_model, describe_validation_errors
from nodes.planning.validation import list_plan_problems, list_vague_tasks, may_divide
from nodes.prompts.messages import build_problem_message, shorten_text
from nodes.telemetry.events import emit
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
    finished: Collection[str] = (),
) -> tuple[Plan, Usage]:
    """Ask for a plan; send what is wrong with it back, `team.max_plan_repairs` times at most.

    Vague tasks are sent back once; a plan with no other fault is taken then, and where no better
    one comes. A worker that the team still does not have in the last plan falls to its generalist,
    or to a specialist where it has none and recruits.

    Args:
        adopt: makes the plan to be checked out of the one that was given.
        finished: ids of tasks that have a result, whose words nobody can repair.

    Raises:
        PlanInvalid: the last plan is still refused.
        ModelError: the planner cannot be reached.
    """
    check = _PlanCheck(team, max_tasks, materials, adopt, finished)
    asking, spent, is_told = list(messages), Usage(), False
    sound: Plan | None = None
    last: Plan | None = None
    for repairs in range(team.max_plan_repairs, -1, -1):
        try:
            reply = await _ask_once(model, asking, check)
        except ModelError as error:
            error.usage = spent + (error.usage or Usage())
            if sound is None:
                raise
            await emit("error", code=error.code, message=f"vague tasks are not repaired: {error}")
            return sound, error.usage
        spent += reply.usage
        if reply.plan and (is_told or not reply.vague_tasks or not repairs):
            return reply.plan, spent
        sound, last = reply.plan or sound, reply.proposed_plan or last
        is_told = is_told or bool(reply.vague_tasks)
        wrong = [*reply.problems, *reply.vague_tasks]
        await emit("plan_rejected", problems=wrong, plan=reply.reply_text)
        asking += [AIMessage(shorten_text(reply.reply_text, 20_000)), build_problem_message(wrong)]
    plan = sound or _replace_unknown_workers(last, check)
    if plan is None:
        raise _build_plan_error(check, last, wrong, reply.reply_text, spent)
    return plan, spent


@dataclass(frozen=True)
class _PlanCheck:
    """What a plan is held to."""

    team: Team
    max_tasks: int
    materials: Collection[str]
    adopt: Callable[[Plan], Plan]
    finished: Collection[str]

    def __call__(self, given: Plan) -> tuple[Plan | None, list[str], list[str]]:
        """Return the plan as it can run, what is wrong with it, and what is vague in it."""
        try:
            plan = self.adopt(given)
        except ValidationError as error:
            return None, describe_validation_errors(error), []
        wrong = list_plan_problems(
            plan, self.team, max_tasks=self.max_tasks, materials=self.materials
        )
        # A plan of thousands of tasks is refused for its size alone.
        open_tasks = [task for task in plan.tasks if task.id not in self.finished]
        vague = list_vague_tasks(open_tasks) if len(plan.tasks) <= self.max_tasks else []
        return (None if wrong else plan), wrong, vague


@dataclass(frozen=True)
class _PlanReply:
    """What came of asking for a plan once."""

    reply_text: str
    usage: Usage
    proposed_plan: Plan | None = None
    """As it was given."""
    plan: Plan | None = None
    """As it can run; None when something is wrong with it."""
    problems: Sequence[str] = ()
    vague_tasks: Sequence[str] = ()


async def _ask_once(
    model: BaseChatModel, asking: Sequence[AnyMessage], check: _PlanCheck
) -> _PlanReply:
    """Ask for a plan and check it.

    Raises:
        ModelError: the planner cannot be reached.
    """
    closed = build_plan_schema(
        tuple(worker.name for worker in check.team.roster), may_divide=may_divide(check.team)
    )
    try:
        reply = await ask_model(model, Plan, asking, parameters=closed)
    except UnreadableReply as error:
        return _PlanReply(error.reply_text, error.usage, problems=error.problems)
    except BadResponse as error:
        if not error.reply_text:
            raise
        return _PlanReply(
            error.reply_text, error.usage or Usage(), problems=_describe_bad_arguments(error)
        )
    plan, wrong, vague = check(reply.value)
    said = reply.value.model_dump_json()
    return _PlanReply(said, reply.usage, reply.value, plan, wrong, vague)


def _build_plan_error(
    check: _PlanCheck, last: Plan | None, wrong: Sequence[str], said: str, spent: Usage
) -> PlanInvalid:
    error = PlanInvalid(
        f"no valid plan after {check.team.max_plan_repairs} repairs",
        cause=f"{'; '.join(wrong)[:MAX_CAUSE_CHARS]} (the last plan began: {said[:200]})",
        next=_suggest_next_step(last, check.team, check.max_tasks),
    )
    error.usage = spent
    return error


def _suggest_next_step(last: Plan | None, team: Team, max_tasks: int) -> str:
    """Name the cap that the last plan was over; other words change nothing there."""
    if last is not None and len(last.tasks) > max_tasks:
        where = "in team.md or the run's settings"
        return f"raise max_tasks, which is {max_tasks}, {where}, or ask for less at once"
    if last is not None and last.measure_depth() > team.max_depth:
        return f"raise max_depth, which is {team.max_depth}, in team.md, or ask for fewer steps"
    return "say the request in other words, or give the strong tier a stronger model"


def _describe_bad_arguments(error: BadResponse) -> list[str]:
    """Return what is wrong with the arguments of a call that could not be taken for one."""
    try:
        read_json_object(error.reply_text)
    except InvalidJson as unfit:
        return [f"the arguments of Plan: {unfit}"]
    return [error.what]


def _replace_unknown_workers(plan: Plan | None, check: _PlanCheck) -> Plan | None:
    """Return a plan whose unknown workers are one who takes any task; None where it cannot run."""
    team = check.team
    if plan is None or not (team.generalist or team.recruit):
        return None
    known = {worker.name for worker in team.roster}
    anyone = {"worker": team.generalist or SPECIALIST}
    tasks = tuple(
        task if task.worker in known else task.model_copy(update=anyone) for task in plan.tasks
    )
    return check(plan.model_copy(update={"tasks": tasks}))[0]


@cache
def build_plan_schema(workers: tuple[str, ...], *, may_divide: bool) -> dict[str, Any]:
    """Return the schema of a plan whose vocabulary of workers is closed."""
    schema = Plan.model_json_schema()
    task = schema["$defs"]["Task"]["properties"]
    task["worker"]["enum"] = list(workers)
    if not may_divide:
        del task["is_compound"]
    return schema
