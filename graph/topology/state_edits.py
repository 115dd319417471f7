"""Edits of a thread's state, as Studio and other clients send them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langgraph.errors import InvalidUpdateError
from langgraph.types import StateUpdate

from graph.topology.input_validation import read_state_edit
from nodes.planning.validation import list_plan_problems
from nodes.schemas.team import Team
from state import Plan

StateEdits = list[list[StateUpdate]]


def read_state_edits(supersteps: Sequence[Sequence[StateUpdate]]) -> StateEdits:
    """Return edits whose values, which may be JSON, have the types of the state.

    Raises:
        InvalidUpdateError: a value is not what its channel holds.
    """
    return [
        [edit._replace(values=read_state_edit(edit.values)) for edit in step] for step in supersteps
    ]


def has_plan(edits: StateEdits) -> bool:
    """Return whether a plan is among the edits."""
    return any(True for _ in _list_plans(edits))


def require_valid_plans(edits: StateEdits, held: Mapping[str, Any], team: Team) -> None:
    """Check a plan that is edited into the state as any other plan is checked.

    Args:
        held: the thread's state.

    Raises:
        InvalidUpdateError: the team cannot do the plan.
    """
    before = held.get("plan")
    max_tasks = max(team.max_tasks, len(before.tasks) if before else 0)
    for values, plan in _list_plans(edits):
        materials = values.get("materials", held.get("materials", {}))
        if wrong := list_plan_problems(plan, team, max_tasks=max_tasks, materials=materials):
            raise InvalidUpdateError(f"plan: {'; '.join(wrong)}")


def _list_plans(edits: StateEdits) -> Iterator[tuple[Mapping[str, Any], Plan]]:
    for edit in (edit for step in edits for edit in step):
        values = edit.values if isinstance(edit.values, Mapping) else {}
        if isinstance(values.get("plan"), Plan):
            yield values, values["plan"]
