"""Collecting the reports that an unfinished superstep has saved."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import StateSnapshot

from state import Report


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


def _reports(values: Mapping[str, Any] | Any) -> dict[str, Report]:
    return dict(values.get("results") or {}) if isinstance(values, Mapping) else {}
