"""What a failed task means for those that depend on it."""

from collections.abc import Mapping
from typing import Final

from state import EscalationReason, Plan, Report, ReportStatus, Task

STATUS_PHRASES: Mapping[ReportStatus, str] = {
    "completed": "was completed",
    "failed": "failed",
    "skipped": "was skipped",
    "escalated": "was handed back",
}
"""How a task ended, as the end of a sentence."""

ESCALATION_PHRASES: Final[Mapping[EscalationReason, str]] = {
    "out_of_scope": "out of scope",
    "ambiguous_input": "its input is missing or unclear",
    "confidence_too_low": "too uncertain",
    "timeout": "out of time",
}
"""In the words of a gap."""


def skip_blocked(plan: Plan, results: Mapping[str, Report], *, at_s: float) -> dict[str, Report]:
    """Report as skipped each task that can never have a required input.

    An optional input that failed does not stop a task: it runs without.
    """
    known = dict(results)
    for task in plan.order_tasks():
        if task.id not in known and (reason := _describe_missing_input(task, known)):
            known[task.id] = build_skip_report(task, reason, at_s=at_s)
    return {name: report for name, report in known.items() if name not in results}


def build_skip_report(task: Task, reason: str, *, at_s: float) -> Report:
    """Report a task as skipped: nobody worked at it."""
    return Report(
        task=task.id,
        worker=task.worker,
        status="skipped",
        confidence=0,
        error=reason,
        attempts=0,
        started_s=at_s,
        ended_s=at_s,
    )


def list_shortfalls(report: Report, description: str = "") -> list[str]:
    """Return where a report falls short of its task, each as the end of a sentence on the task.

    Args:
        description: the task's words, for a report that gives no reason.
    """
    if report.status == "escalated" and report.escalation:
        asked = report.escalation
        return [f"was handed back, {ESCALATION_PHRASES[asked.reason]}: {asked.message}"]
    if report.status != "completed":
        return [f"{STATUS_PHRASES[report.status]}: {report.error or description}"]
    return [f"lacks: {gap}" for gap in list_partial_gaps(report)]


def list_partial_gaps(report: Report) -> tuple[str, ...]:
    """Return the gaps for which a report is partial: its failures, else all gaps of a team."""
    return (report.failures or report.gaps) if report.is_partial else ()


def _describe_missing_input(task: Task, known: Mapping[str, Report]) -> str:
    for edge in task.depends_on:
        report = known.get(edge.task)
        if edge.required and report is not None and report.status != "completed":
            return f"needs {edge.task}, which {STATUS_PHRASES[report.status]}"
    return ""
