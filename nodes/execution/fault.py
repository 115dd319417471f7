"""What ended an attempt without a report: what it concerns, and what was found until then."""

from collections.abc import Sequence
from typing import Final

from nodes.errors import (
    BadResponse,
    BudgetSpent,
    DeadlinePassed,
    ModelError,
    ModelUnknown,
    PlanInvalid,
    RemoteError,
    ResponseCut,
    SupervisorError,
)
from nodes.prompts.tags import shorten_text
from state import Escalation, Fault, Report

MAX_PARTIAL_CHARS: Final = 2_000
"""Limit for what is kept of an attempt whose time ended."""


def classify_fault(problem: SupervisorError) -> Fault:
    """Return what an error concerns: the reply or its form, the model, the worker, or all of it."""
    if isinstance(problem, PlanInvalid):
        return "content"
    if isinstance(problem, RemoteError):
        return "content" if problem.may_reword else "worker"
    is_cut = isinstance(problem, ResponseCut) and problem.is_at_limit
    if is_cut or (isinstance(problem, BadResponse) and problem.reply_text):
        return "form"  # the model wrote it: the task's words are not at fault
    if isinstance(problem, BudgetSpent | DeadlinePassed):
        return "permanent"
    return "model" if isinstance(problem, ModelError | ModelUnknown) else "permanent"


def build_timeout_report(error: str, found: Sequence[str]) -> Report:
    """Return a failed report that keeps the beginning of what was found."""
    partial = shorten_text("\n".join(found), MAX_PARTIAL_CHARS)
    escalation = Escalation(reason="timeout", message=error, partial=partial)
    return Report(status="failed", output=error, escalation=escalation, confidence=0)
