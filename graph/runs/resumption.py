"""What the state of a thread says of going on with it."""

from typing import Any

from langgraph.types import Command, StateSnapshot

from state import Report, SupervisorState, reopen_request


def has_unfinished_work(snapshot: StateSnapshot) -> bool:
    """Return whether a thread holds work; a request that never got a plan may be replaced."""
    values = snapshot.values
    is_planned = values.get("planned_for") == values.get("request") and not values.get("objection")
    if is_planned and values.get("status") == "running":
        return True  # also where the team has lost the workers that are to run next
    return bool(snapshot.next) and (is_planned or bool(snapshot.interrupts))


def build_reopen_command(values: SupervisorState) -> Command[Any] | None:
    """Send a run that lacks results back to the supervisor, with those it has and all caps anew."""
    if values.get("status") not in ("partial", "failed"):
        return None
    update = reopen_request(_select_complete_results(values), values["ledger"].values())
    return Command(update=update, goto="supervisor")


def _select_complete_results(values: SupervisorState) -> dict[str, Report]:
    """Return the completed results, but for the partial ones and those made from them."""
    results, plan = values.get("results", {}), values.get("plan")
    redone = {name for name, report in results.items() if report.is_partial}
    for task in plan.order_tasks() if plan else ():
        if any(edge.task in redone for edge in task.depends_on):
            redone.add(task.id)
    return {n: r for n, r in results.items() if r.status == "completed" and n not in redone}
