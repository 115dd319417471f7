"""What a run's own trace still tells when its database does not."""

from typing import Any

from pydantic import ValidationError

from graph import journal
from graph.journal import Journal
from graph.trace import trace_of
from state import Plan, Report


def salvage(kept: Journal) -> dict[str, Any]:
    """Give plan and finished results of a journal's last request, as a state has them."""
    if kept.path is None:
        return {}
    trace = trace_of(journal.read(kept.path))
    try:
        reports = [task["report"] for task in trace["tasks"] if task["report"]]
        results = {report["task"]: Report.model_validate(report) for report in reports}
        plan = [Plan.model_validate(plan) for plan in trace["plans"][-1:]]
    except ValidationError:  # an earlier release wrote it
        return {}
    return {"results": results, **({"plan": plan[0]} if plan else {})}
