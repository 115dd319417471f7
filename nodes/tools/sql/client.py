"""Inspect the database that `query_database` would read, for commands that run no team."""

from typing import Any

from nodes.errors import ToolFailed
from nodes.tools.child_process import ask_once
from nodes.tools.sql.location import DatabaseLocation

CHILD_MODULE = "nodes.tools.sql.child_program"
INSPECT_TIMEOUT_S = 20.0


def inspect_database(location: DatabaseLocation) -> dict[str, Any]:
    """Return its `tables`, or what is wrong as `error`; with a `fix` if its role is refused."""
    request = {
        "engine": location.engine,
        "target": location.target,
        "materials": {},
        "sql": "",
        "timeout_s": INSPECT_TIMEOUT_S,
    }
    try:
        return ask_once(CHILD_MODULE, request, timeout_s=INSPECT_TIMEOUT_S)
    except ToolFailed as failure:
        return {"error": str(failure), "tables": []}
