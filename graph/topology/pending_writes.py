"""Reads what an unfinished superstep has saved: reports, and the usage of their attempts."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import Overwrite, StateSnapshot

from nodes.execution.dispatch_registry import MONITOR
from nodes.telemetry.cost import build_expenses
from state import Expense, Plan, Report, Task, merge_ledger, merge_plans


def collect_pending_reports(snapshot: StateSnapshot) -> dict[str, Report]:
    """Collect the reports that an unfinished superstep has saved, at every depth.

    A worker whose last step was saved repeats no step, even if the end of its graph was not saved.
    """
    found: dict[str, Report] = {}
    for task in snapshot.tasks:
        found |= _get_reports(task.result)
        if isinstance(task.state, StateSnapshot):
            found |= _get_reports(task.state.values) | collect_pending_reports(task.state)
    return found


def collect_started_tasks(snapshot: StateSnapshot) -> set[str]:
    """Return the ids of tasks that had begun when the superstep was saved, at every depth."""
    found: set[str] = set()
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot):
            worker = task.state.values
            if "inputs" in worker and isinstance(worker.get("task"), Task):
                found.add(worker["task"].id)
            found |= collect_started_tasks(task.state)
    return found


def collect_held_tasks(snapshot: StateSnapshot) -> set[str]:
    """Return the ids of tasks that ended without a report, because they could not start.

    Those of inner teams are not among them: they belong to other dispatches.
    """
    found: set[str] = set()
    for task in snapshot.tasks:
        if isinstance(task.result, Mapping):
            found |= {
                name for name, tries in _get_entries(task.result, "steps").items() if not tries
            }
        if task.name == MONITOR and isinstance(task.state, StateSnapshot):
            found |= collect_held_tasks(task.state)
    return found


def collect_asking_nodes(snapshot: StateSnapshot) -> set[str]:
    """Return the ids of the nodes that wait for a human, at every depth."""
    found: set[str] = set()
    for task in snapshot.tasks:
        if task.interrupts:
            found.add(task.id)
        if isinstance(task.state, StateSnapshot):
            found |= collect_asking_nodes(task.state)
    return found


def collect_pending_revisions(snapshot: StateSnapshot) -> tuple[Plan, ...]:
    """Return the plan of a superstep, and the versions that its monitor has made of it since."""
    plan: Plan | None = snapshot.values.get("plan")
    if plan is None:
        return ()
    newer = [each for each in _collect_plans(snapshot) if each.version > plan.version]
    return (plan, *newer) if newer else ()


def _collect_plans(snapshot: StateSnapshot) -> tuple[Plan, ...]:
    plans = _get_plans(snapshot.values)
    for task in snapshot.tasks:
        plans = merge_plans(plans, _get_plans(task.result))
        if isinstance(task.state, StateSnapshot):
            plans = merge_plans(plans, _collect_plans(task.state))
    return plans


def _get_plans(values: Mapping[str, Any] | Any) -> tuple[Plan, ...]:
    return tuple(values.get("plans") or ()) if isinstance(values, Mapping) else ()


def collect_ledger(snapshot: StateSnapshot) -> dict[str, Expense]:
    """Return the ledger of a snapshot, including the entries of its unfinished tasks."""
    ledger: dict[str, Expense] = dict(snapshot.values.get("ledger", {}))
    for task in snapshot.tasks:
        if isinstance(task.result, Mapping):
            ledger = merge_ledger(ledger, _get_entries(task.result, "ledger"))
        if isinstance(task.state, StateSnapshot):
            inner = {**_collect_attempt_expenses(task.state.values), **collect_ledger(task.state)}
            ledger = merge_ledger(ledger, inner)
    return ledger


def _get_reports(values: Mapping[str, Any] | Any) -> dict[str, Report]:
    return _get_entries(values, "results") if isinstance(values, Mapping) else {}


def _get_entries(values: Mapping[str, Any], channel: str) -> dict[str, Any]:
    """Return what is written to a channel; for a new request it is an `Overwrite`."""
    written = values.get(channel)
    return dict((written.value if isinstance(written, Overwrite) else written) or {})


def _collect_attempt_expenses(worker: Mapping[str, Any]) -> dict[str, Expense]:
    """Return the ledger entries of a worker's attempts before its report."""
    task, entries = worker.get("task"), worker.get("attempts", {}).items()
    if not isinstance(task, Task):
        return {}
    made = [build_expenses(task.id, int(number), attempt) for number, attempt in entries]
    return {name: spent for each in made for name, spent in each.items()}
