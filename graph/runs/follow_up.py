"""A further request on a thread: it has the materials of the earlier ones."""

from collections.abc import Mapping
from typing import Any, cast

from nodes.errors import RequestInvalid
from nodes.planning.request import read_request
from state import SupervisorState


def add_thread_materials(
    thread: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return an input with the materials of its thread added, and the names of those.

    Of two with one name the new one stands.

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
            next="begin a new --thread with what it needs",
        ) from None
    return joined, kept
