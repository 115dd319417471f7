"""Finds reports that are not as planned, and asks a cheap model whether the plan survives them."""

from collections.abc import Sequence
from typing import TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from pydantic import BaseModel

from nodes.errors import ModelError
from nodes.limits.stop_requests import STOPPED
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.checks import build_task_check_messages
from nodes.prompts.messages import build_plan_review_messages
from nodes.prompts.tags import shorten_text
from nodes.schemas.replies import PlanReview, TaskCheck
from nodes.telemetry.events import emit
from state import Plan, Report, Task, Tier, Usage

REVIEW_TIER: Tier = "fast"
MAX_SURPRISE_CHECKS = 20
"""Of one run: reports that do not say whether they found what was expected."""
MAX_QUOTED_CHARS = 1_000
"""Of a report, in the reason of a review."""
NOT_FOUND = "it did not find what was expected"

T = TypeVar("T", bound=BaseModel)


def describe_surprise(report: Report, *, min_confidence: int) -> str:
    """Return why a report is not as planned; empty when it is, or does not say so.

    That a human stopped a task is no reason to plan it in another way.

    Args:
        min_confidence: the team's floor, 0 to 100.
    """
    if report.error == STOPPED:
        return ""
    if report.status == "failed":
        return f"it failed: {report.error or report.output}"
    if report.escalation is not None:
        return f"it could not be done, {report.escalation.reason}: {report.escalation.message}"
    if report.found_as_expected is False:
        return f"{NOT_FOUND}: {shorten_text(report.output, MAX_QUOTED_CHARS)}"
    if report.is_doubtful(min_confidence):
        return f"its confidence is {report.confidence} of 100"
    return ""


async def check_surprise(
    model: BaseChatModel, task: Task, report: Report, waiting: Sequence[Task]
) -> tuple[str, Usage]:
    """Return why a report that does not say so is not as planned, by one call, and its usage.

    Empty when it is as planned, and without a readable reply.
    """
    messages = build_task_check_messages(task, report)
    check, usage, problem = await _ask(model, TaskCheck(is_found=True), messages, temperature=0.0)
    if problem:
        why = "it does not say whether it found what was expected"
        await _emit_review([(report, why)], waiting, PlanReview(makes_sense=True), problem)
    why = f"{NOT_FOUND}, says the {REVIEW_TIER} tier: "
    return "" if check.is_found else why + shorten_text(report.output, MAX_QUOTED_CHARS), usage


async def review_plan(
    model: BaseChatModel,
    request: str,
    plan: Plan,
    surprises: Sequence[tuple[Report, str]],
    waiting: Sequence[Task],
) -> tuple[PlanReview, Usage]:
    """Return the verdict of one call, and its usage; without a readable one the plan stays.

    Args:
        surprises: the reports, and why each is not as planned.
        waiting: tasks that have not begun.
    """
    messages = build_plan_review_messages(request, plan, surprises, waiting)
    review, usage, problem = await _ask(model, PlanReview(makes_sense=True), messages)
    await _emit_review(surprises, waiting, review, problem)
    return review, usage


async def _ask(
    model: BaseChatModel, default: T, messages: list[AnyMessage], **options: float
) -> tuple[T, Usage, str]:
    """Return a model's reply, its usage and no problem; without a readable one the default."""
    try:
        reply = await ask_model(model, type(default), messages, options=options)
    except ModelError as error:
        return default, error.usage or Usage(), f"the call failed, the plan stays as it is: {error}"
    except UnreadableReply as error:
        return default, error.usage, "the reply could not be read, the plan stays as it is"
    return reply.value, reply.usage, ""


async def _emit_review(
    surprises: Sequence[tuple[Report, str]],
    waiting: Sequence[Task],
    review: PlanReview,
    problem: str,
) -> None:
    await emit(
        "plan_reviewed",
        reports={report.task: why for report, why in surprises},
        waiting=[task.id for task in waiting],
        makes_sense=review.makes_sense,
        reason=review.reason,
        remark=problem,
    )
