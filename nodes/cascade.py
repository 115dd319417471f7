"""What a failed task means for those that depend on it."""

from collections.abc import Mapping

from state import Plan, Report, ReportStatus, Task

ENDED: Mapping[ReportStatus, str] = {
    "completed": "was completed",
    "failed": "failed",
    "skipped": "was skipped",
    "escalated": "was handed back",
}
"""How a task ended, as the end of a sentence."""


def skipped(plan: Plan, results: Mapping[str, Report], *, at_s: float) -> dict[str, Report]:
    """Report as skipped each task that can never have a required input.

    An optional input that failed does not stop a task: it runs without.
    """
    known = dict(results)
    for task in plan.order():
        if task.id not in known and (reason := _missing_input(task, known)):
            known[task.id] = left_out(task, reason, at_s=at_s)
    return {name: report for name, report in known.items() if name not in results}


def left_out(task: Task, reason: str, *, at_s: float) -> Report:
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


def _missing_input(task: Task, known: Mapping[str, Report]) -> str:
    for edge in task.depends_on:
        report = known.get(edge.task)
        if edge.required and report is not None and report.status != "completed":
            return f"needs {edge.task}, which {ENDED[report.status]}"
    return ""
