"""What a tool answers to a request that its team is not for."""

from typing import Any


def out_of_scope(message: str) -> dict[str, Any]:
    """Hand the task back in the report's own words."""
    return {"escalation": {"reason": "out_of_scope", "message": message}}
