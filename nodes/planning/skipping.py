"""Skips the tasks that a failed task blocks."""

from collections.abc import Mapping

from nodes.text.phrases import DEFAULT_LANGUAGE, say
from state import Plan, Report, ReportStatus, Task

STATUS_PHRASES: Mapping[ReportStatus, str] = {
    "completed": "was completed",
    "failed": "failed",
    "skipped": "was skipped",
    "escalated": "could not be done",
}
"""How a task ended, as the end of a sentence."""


def skip_blocked(plan: Plan, results: Mapping[str, Report], *, at_s: float) -> dict[str, Report]:
    """Return a skip report for each task whose required input can never come.

    An optional input that failed does not block a task: it runs without it.
    """
    known = dict(results)
    for task in plan.order_tasks():
        if task.id not in known and (reason := _describe_missing_input(task, known)):
            known[task.id] = build_skip_report(task, reason, at_s=at_s)
    return {name: report for name, report in known.items() if name not in results}


def build_skip_report(task: Task, reason: str, *, at_s: float) -> Report:
    """Return the report of a skipped task: no attempt was made."""
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


def list_shortfalls(
    report: Report, description: str = "", language: str = DEFAULT_LANGUAGE
) -> list[str]:
    """Return what a report lacks, each item as the end of a sentence about the task.

    Args:
        description: the task's description, for a report without a reason.
        language: ISO 639-1 code of the program's own words.
    """
    if report.status == "escalated" and report.escalation:
        reason = say(language, report.escalation.reason)
        return [say(language, "not_possible", reason=reason, message=report.escalation.message)]
    if report.status != "completed":
        key = "skipped" if report.status == "skipped" else "failed"
        return [say(language, key, reason=report.error or description)]
    return [say(language, "lacks", gap=gap) for gap in list_partial_gaps(report)]


def lacks_file(report: Report) -> bool:
    """Return whether a task was not completed as there was nothing to read."""
    return report.lacks_file and report.status != "completed"


def list_partial_gaps(report: Report) -> tuple[str, ...]:
    """Return the gaps that make a report partial: its failures, else all gaps of a team."""
    return (report.failures or report.gaps) if report.is_partial else ()


def _describe_missing_input(task: Task, known: Mapping[str, Report]) -> str:
    for edge in task.depends_on:
        report = known.get(edge.task)
        if edge.required and report is not None and report.status != "completed":
            return f"needs {edge.task}, which {STATUS_PHRASES[report.status]}"
    return ""
