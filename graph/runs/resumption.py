"""Whether a new request may begin on a thread, by its state."""

from langgraph.types import StateSnapshot

from graph.topology.continuation import is_in_progress


def has_unfinished_work(snapshot: StateSnapshot) -> bool:
    """Return whether a thread has unfinished work; a request without a plan may be replaced."""
    values = snapshot.values
    is_planned = values.get("planned_for") == values.get("request") and not values.get("objection")
    if is_planned and values.get("status") == "running":
        return True  # also if the team has lost the workers that would run next
    return is_in_progress(snapshot) and (is_planned or bool(snapshot.interrupts))
