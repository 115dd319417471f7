"""Recovers a run's results from its trace when its database is lost."""

from typing import Any

from graph.runs import event_log
from graph.runs.event_log import EventLog
from graph.runs.trace import build_trace
from state import Plan, Report


def state_from_log(kept: EventLog) -> dict[str, Any]:
    """Return plan and finished results of an event log's last request, by state channel."""
    if kept.path is None:
        return {}
    try:
        trace = build_trace(event_log.read_log_entries(kept.path))
        reports = [task["report"] for task in trace["tasks"] if task["report"]]
        results = {report["task"]: Report.model_validate(report) for report in reports}
        plan = [Plan.model_validate(plan) for plan in trace["plans"][-1:]]
    except event_log.FORM_ERRORS:  # an earlier release wrote it, or it is damaged
        return {}
    return {"results": results, **({"plan": plan[0]} if plan else {})}
