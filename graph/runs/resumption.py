"""Whether and how a thread can be resumed, by its state."""

from typing import Any

from langgraph.types import Command, StateSnapshot

from state import REOPENED, Report, SupervisorState, reopen_request


def is_in_progress(snapshot: StateSnapshot) -> bool:
    """Return whether a thread stopped in the middle of a run.

    Its `next` is empty in between, where all nodes of a superstep have returned and the next one
    was not begun.
    """
    return bool(snapshot.tasks)


def has_unfinished_work(snapshot: StateSnapshot) -> bool:
    """Return whether a thread has unfinished work; a request without a plan may be replaced."""
    values = snapshot.values
    is_planned = values.get("planned_for") == values.get("request") and not values.get("objection")
    if is_planned and values.get("status") == "running":
        return True  # also if the team has lost the workers that would run next
    return is_in_progress(snapshot) and (is_planned or bool(snapshot.interrupts))


def build_reopen_command(values: SupervisorState) -> Command[Any] | None:
    """Build the command that reopens an incomplete run: results are kept, caps restart.

    A plan by rule without a complete result is made again.
    """
    if values.get("status") not in ("partial", "failed"):
        return None
    kept, plan = _select_complete_results(values), values.get("plan")
    update = reopen_request(kept, values["ledger"].values())
    if plan is not None and plan.is_by_rule and not kept:
        update["planned_for"] = REOPENED  # a model may be reached by now
    return Command(update=update, goto="supervisor")


def _select_complete_results(values: SupervisorState) -> dict[str, Report]:
    """Return the completed results, except partial ones and those that depend on them."""
    results, plan = values.get("results", {}), values.get("plan")
    redone = {name for name, report in results.items() if report.is_partial}
    for task in plan.order_tasks() if plan else ():
        if any(edge.task in redone for edge in task.depends_on):
            redone.add(task.id)
    return {n: r for n, r in results.items() if r.status == "completed" and n not in redone}
