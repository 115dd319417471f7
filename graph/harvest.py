"""Collecting what an unfinished superstep has saved: reports, and what their attempts cost."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import StateSnapshot

from nodes.attempt import expenses
from state import Expense, Report, Task, merge_ledger


def harvest(snapshot: StateSnapshot) -> dict[str, Report]:
    """Collect the reports that an unfinished superstep has saved, at every depth.

    A worker whose last step was saved, but not yet the end of its graph, runs no step again.
    """
    found: dict[str, Report] = {}
    for task in snapshot.tasks:
        found |= _reports(task.result)
        if isinstance(task.state, StateSnapshot):
            found |= _reports(task.state.values) | harvest(task.state)
    return found


def spent_so_far(snapshot: StateSnapshot) -> dict[str, Expense]:
    """Return the ledger of a snapshot with what its unfinished tasks add, each entry once."""
    ledger: dict[str, Expense] = dict(snapshot.values.get("ledger", {}))
    for task in snapshot.tasks:
        if isinstance(task.result, Mapping):
            ledger = merge_ledger(ledger, task.result.get("ledger") or {})
        if isinstance(task.state, StateSnapshot):
            inner = {**_attempted(task.state.values), **spent_so_far(task.state)}
            ledger = merge_ledger(ledger, inner)
    return ledger


def _reports(values: Mapping[str, Any] | Any) -> dict[str, Report]:
    return dict(values.get("results") or {}) if isinstance(values, Mapping) else {}


def _attempted(worker: Mapping[str, Any]) -> dict[str, Expense]:
    """Return what the attempts of a worker cost that has not reported yet."""
    task, entries = worker.get("task"), worker.get("attempts", {}).items()
    if not isinstance(task, Task):
        return {}
    made = [expenses(task.id, number, attempt) for number, attempt in entries]
    return {name: spent for each in made for name, spent in each.items()}
