"""Asks a cheap model whether waiting tasks make sense after reports that were not as planned."""

from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel

from nodes.errors import ModelError
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.messages import build_plan_review_messages
from nodes.schemas.replies import PlanReview
from nodes.telemetry.events import emit
from state import Plan, Report, Task, Tier, Usage

REVIEW_TIER: Tier = "fast"


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
    messages, remark = build_plan_review_messages(request, plan, surprises, waiting), ""
    try:
        reply = await ask_model(model, PlanReview, messages)
        review, usage = reply.value, reply.usage
    except ModelError as error:
        review, usage = PlanReview(makes_sense=True), error.usage or Usage()
        remark = f"the review failed, the plan stays as it is: {error}"
    except UnreadableReply as error:
        review, usage = PlanReview(makes_sense=True), error.usage
        remark = "the review could not be read, the plan stays as it is"
    await emit(
        "plan_reviewed",
        reports={report.task: why for report, why in surprises},
        waiting=[task.id for task in waiting],
        makes_sense=review.makes_sense,
        reason=review.reason,
        remark=remark,
    )
    return review, usage
