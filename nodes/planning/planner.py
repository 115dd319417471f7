"""Asks for a plan until one is valid."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from langchain_core.messages import AIMessage, AnyMessage

from nodes.errors import (
    BadResponse,
    CallTimedOut,
    DeadlinePassed,
    ModelError,
    ModelUnknown,
    PlanInvalid,
    SupervisorError,
    is_refusal,
)
from nodes.errors.redaction import redact_text
from nodes.models.catalog import AvailableModels
from nodes.models.json_reading import InvalidJson, read_json_object
from nodes.models.rule_model import find_rule_model
from nodes.models.run_context import TextListener, listen_to_reply
from nodes.models.structured_output import UnreadableReply
from nodes.planning.coverage import format_uncovered, list_uncovered
from nodes.planning.plan_check import PlanCheck
from nodes.prompts.few_shot_examples import remove_examples
from nodes.prompts.messages import build_problem_message
from nodes.prompts.tags import shorten_text
from nodes.schemas.team import Team
from nodes.telemetry.events import emit
from state import Plan, Usage

MAX_CAUSE_CHARS = 1_200
"""Limit for the problems of the last plan, in the error that ends a run."""
MAX_REASON_CHARS = 600
"""Limit for the reason of a plan by rule, in the answer."""


async def make_plan(
    models: AvailableModels,
    team: Team,
    messages: Sequence[AnyMessage],
    *,
    max_tasks: int,
    materials: Collection[str],
    request: str = "",
    goal: str = "",
    old: Plan | None = None,
    finished: Collection[str] = (),
    build_rule_messages: Callable[[], Sequence[AnyMessage]] | None = None,
    read_text: TextListener | None = None,
) -> tuple[Plan, Usage]:
    """Return a valid plan; an invalid one is sent back at most `team.max_plan_repairs` times.

    Vague tasks, and parts of the request that no task covers, are sent back once; after that a plan
    with no other fault is accepted, as it is when no better one comes. Unknown workers in the last
    plan are replaced by the team's generalist, or by a specialist where the team has no generalist
    and recruits. A plan by rule takes over where the model has given no valid one, or no model can
    be reached: the workers' may be.

    Args:
        request: whose parts the tasks must cover; empty: nothing must be covered.
        goal: of a plan that names none, as it is asked for the tasks only.
        old: the plan that is revised; None for a first one.
        finished: ids of its tasks that have a result or are at work: they stay as they are.
        build_rule_messages: builds the messages for the plan by rule; None where there is none.
        read_text: called with the first reply so far, while the model writes it.

    Raises:
        PlanInvalid: the last plan is still refused.
        ModelError: the planner cannot be reached, and there is no plan by rule.
    """
    check = PlanCheck(team, max_tasks, materials, old, finished, goal or request)
    asking = _Conversation(models, list(messages), check)
    try:
        if plan := await asking.ask_until_valid(request, read_text):
            return plan, asking.spent
    except (ModelError, ModelUnknown) as error:
        error.usage = asking.spent + (error.usage or Usage())
        plan = await _replace_model(error, asking, check, build_rule_messages)
        return plan, error.usage
    if (kept := asking.sound or check.replace_unknown_workers(asking.last)) is not None:
        return kept, asking.spent
    rule = build_rule_messages() if build_rule_messages else []
    reasons = [*asking.problems, asking.suggest_next_step()]
    if rule and (by_rule := await make_plan_by_rule(rule, check, reasons)):
        return by_rule, asking.spent
    raise asking.build_error()


async def _replace_model(
    error: SupervisorError,
    asking: "_Conversation",
    check: PlanCheck,
    build_rule_messages: Callable[[], Sequence[AnyMessage]] | None,
) -> Plan:
    """Return the plan to run when no model can be reached; raise the error if there is none."""
    plan = asking.sound
    if plan is None and build_rule_messages and not is_refusal(error):
        reasons = [*asking.problems, error.describe()]
        plan = await make_plan_by_rule(build_rule_messages(), check, reasons)
    if plan is None:
        raise error
    outcome = "not repaired" if plan is asking.sound else "made by rule"
    await emit("error", code=error.code, message=f"the plan is {outcome}: {error}")
    return plan


class _Conversation:
    """The conversation in which a plan is asked for."""

    def __init__(
        self, models: AvailableModels, messages: list[AnyMessage], check: PlanCheck
    ) -> None:
        self._models, self._prompt, self._check = models, messages, check
        self._replies: set[str] = set()
        self._reply_text = ""
        self._had_more_time = False
        self._spent = Usage()
        self.problems: list[str] = []
        """Of the last plan."""
        self.sound: Plan | None = None
        """The last plan that could run as it is."""
        self.last: Plan | None = None
        """The last one that could be read, as the model wrote it."""

    @property
    def spent(self) -> Usage:
        """Usage of all replies, and of models that failed."""
        return self._spent + self._models.lost_usage

    async def ask_until_valid(self, request: str, read_text: TextListener | None) -> Plan | None:
        """Return the first plan without a problem or a remark; None when there is none.

        Raises:
            ModelError: no model can be reached.
        """
        was_sent_back, team = False, self._check.team
        for repairs in range(team.max_plan_repairs, -1, -1):
            with listen_to_reply(read_text):
                reply = await self._ask()
            read_text = None  # what a repaired plan repeats has begun already
            is_last = was_sent_back or not repairs
            remarks = await _list_remarks(reply, "" if is_last else request, team)
            if reply.plan and (is_last or not remarks):
                return reply.plan
            self.sound, self.last = reply.plan or self.sound, reply.proposed_plan or self.last
            was_sent_back = was_sent_back or bool(remarks)
            self.problems, self._reply_text = [*reply.problems, *remarks], reply.reply_text
            await emit("plan_rejected", problems=self.problems, plan=reply.reply_text)
            if not self._send_back():
                break
        return None

    async def _ask(self) -> "_PlanReply":
        """Return the reply to one request; one that ends at its limit of time is made once more."""
        try:
            reply = await _ask_once(self._models, self._prompt, self._check)
        except CallTimedOut as error:
            is_final = isinstance(error, DeadlinePassed) or not self._models.gives_more_time
            if is_final or self._had_more_time:
                raise
            self._had_more_time = True  # the limit follows the speed, which is known to be lower
            self._spent += error.usage or Usage()
            reply = await _ask_once(self._models, self._prompt, self._check)
        self._spent += reply.usage
        return reply

    def _send_back(self) -> bool:
        """Add the problems of the last reply; return whether to ask again.

        The examples, which a small model copies, are left out. A reply that came before would come
        again: then another model is asked where there is one.
        """
        is_repeated = self._reply_text in self._replies
        if is_repeated and not self._models.take_next():
            return False
        self._replies.add(self._reply_text)
        said = [] if is_repeated else [AIMessage(shorten_text(self._reply_text, 20_000))]
        prompt = remove_examples(self._prompt)
        self._prompt = [*prompt, *said, build_problem_message(self.problems)]
        return True

    def build_error(self) -> PlanInvalid:
        """Return the error of a run without a valid plan."""
        problems, began = "; ".join(self.problems)[:MAX_CAUSE_CHARS], self._reply_text[:200]
        error = PlanInvalid(
            f"no valid plan after {self._check.team.max_plan_repairs} repairs",
            cause=f"{problems} (the last plan began: {began})",
            next=self.suggest_next_step(),
        )
        error.usage = self.spent
        return error

    def suggest_next_step(self) -> str:
        """Return the advice for the user: the exceeded cap if there is one, else other words."""
        last, team, max_tasks = self.last, self._check.team, self._check.max_tasks
        if last is not None and len(last.tasks) > max_tasks:
            where = "in team.md or the run's settings"
            return f"raise max_tasks, which is {max_tasks}, {where}, or ask for less at once"
        if last is not None and last.measure_depth() > team.max_depth:
            return f"raise max_depth, which is {team.max_depth}, in team.md, or ask for fewer steps"
        return "say the request in other words, or give the strong tier a stronger model"


async def _list_remarks(reply: "_PlanReply", request: str, team: Team) -> list[str]:
    """Return what a plan is sent back for once: vague tasks, and what no task covers."""
    if reply.plan is None or not request:
        return list(reply.vague_tasks)
    uncovered = await asyncio.to_thread(list_uncovered, reply.plan, request, team)
    return [*reply.vague_tasks, *format_uncovered(uncovered)]


async def make_plan_by_rule(
    messages: Sequence[AnyMessage], check: PlanCheck, reasons: Sequence[str]
) -> Plan | None:
    """Return the plan that the built-in model makes of the request; None when it is invalid too.

    Args:
        reasons: what was wrong with the last plan of the model, and what a user can do.
    """
    if (rule := find_rule_model()) is None:
        return None
    reply = await _ask_once(AvailableModels(rule.build()), messages, replace(check, goal=""))
    if reply.plan is None:
        return None
    await emit("plan_by_rule", problems=list(reasons))
    reason = redact_text(shorten_text("; ".join(reasons), MAX_REASON_CHARS))
    return reply.plan.model_copy(update={"rule_reason": reason})


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
    models: AvailableModels,
    messages: Sequence[AnyMessage],
    check: PlanCheck,
) -> _PlanReply:
    """Return the reply to one request for a plan, checked.

    Raises:
        ModelError: the planner cannot be reached.
    """
    changes: list[str] = []
    try:
        reply = await models.ask(
            Plan,
            messages,
            parameters=check.build_schema(),
            correct=partial(check.correct, changes=changes),
            purpose="revision" if check.finished else "plan",
        )
    except UnreadableReply as error:
        return _PlanReply(error.reply_text, error.usage, problems=error.problems)
    except BadResponse as error:
        if not error.reply_text:
            raise
        return _PlanReply(
            error.reply_text, error.usage or Usage(), problems=_describe_bad_arguments(error)
        )
    if changes:
        await emit("plan_corrected", changes=changes)
    plan, problems, vague = check(reply.value)
    text = reply.value.model_dump_json()
    return _PlanReply(text, reply.usage, reply.value, plan, problems, vague)


def _describe_bad_arguments(error: BadResponse) -> list[str]:
    """Return the problems of tool-call arguments that could not be parsed."""
    try:
        read_json_object(error.reply_text)
    except InvalidJson as unfit:
        return [f"the arguments of Plan: {unfit}" if error.cause else error.what]
    return [error.what]
