"""Edits of a run's state by a client, such as Studio: read as our own types, and checked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langgraph.errors import InvalidUpdateError
from langgraph.types import StateSnapshot, StateUpdate

from graph.topology.input_validation import read_state_edit
from graph.topology.run_start import read_saved_context
from nodes.planning.validation import list_plan_problems
from nodes.schemas.team import Team
from state import Plan

StateEdits = list[list[StateUpdate]]


def read_edits(supersteps: Sequence[Sequence[StateUpdate]]) -> StateEdits:
    """Return edits whose values, which may be JSON, are our own types."""
    return [
        [edit._replace(values=read_state_edit(edit.values)) for edit in step] for step in supersteps
    ]


def list_edited_plans(edits: StateEdits) -> Iterator[tuple[Mapping[str, Any], Plan]]:
    """Yield the plans among edits, each with the values that it came with."""
    for edit in (edit for step in edits for edit in step):
        values = edit.values if isinstance(edit.values, Mapping) else {}
        if isinstance(values.get("plan"), Plan):
            yield values, values["plan"]


def require_valid_plans(edits: StateEdits, snapshot: StateSnapshot, team: Team) -> None:
    """Check plans that were edited into the state as any other plan of the run is checked.

    Args:
        snapshot: the state before.

    Raises:
        InvalidUpdateError: a plan has problems.
    """
    held, team = snapshot.values, team.apply_context(read_saved_context(snapshot))
    before = held.get("plan")
    max_tasks = max(team.max_tasks, len(before.tasks) if before else 0)
    for values, plan in list_edited_plans(edits):
        if team.is_held and before and plan.tasks != before.tasks:
            raise InvalidUpdateError("plan: the certificate of the run allows no other one")
        materials = values.get("materials", held.get("materials", {}))
        if wrong := list_plan_problems(plan, team, max_tasks=max_tasks, materials=materials):
            raise InvalidUpdateError(f"plan: {'; '.join(wrong)}")
