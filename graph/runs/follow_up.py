"""A further request on a thread, which keeps the materials of the earlier ones."""

from collections.abc import Mapping
from typing import Any, cast

from nodes.errors import RequestInvalid
from nodes.planning.request import read_request
from state import SupervisorState


def add_thread_materials(
    thread: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return an input with the materials of its thread, and the names of those added.

    A new material replaces an earlier one of the same name.

    Args:
        thread: the values of the thread's state.

    Raises:
        RequestInvalid: together they are too large.
    """
    earlier, new = thread.get("materials", {}), given["materials"]
    kept = tuple(name for name in earlier if name not in new)
    joined = {**given, "materials": {**earlier, **new}}
    try:
        read_request(cast(SupervisorState, joined))
    except RequestInvalid as error:
        raise RequestInvalid(
            f"{error.what} with those that the thread keeps",
            cause=error.cause,
            kept=f"the thread, with {', '.join(kept)}",
            next="start a new --thread with only the materials that it needs",
        ) from None
    return joined, kept
