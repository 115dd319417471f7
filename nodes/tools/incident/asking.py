"""Asking for a look at code, logs or configuration, in a process of its own."""

import asyncio
from collections.abc import Mapping
from typing import Any

from nodes.tools.incident.scope import aside
from nodes.tools.isolation import Isolated

CHILD = "nodes.tools.incident.child"
TIMEOUT_S = 60.0


async def looked_into(
    look: str,
    materials: Mapping[str, str] | None,
    *,
    request: str = "",
    timeout_s: float = TIMEOUT_S,
    **more: Any,  # what a look takes besides; JSON
) -> dict[str, Any]:
    """Give what the child says by one kind of look, in the words of a report.

    Raises:
        ToolFailed: it took too long, or broke.
        ToolRefused: the materials do not hold what is needed.
    """
    if elsewhere := await asyncio.to_thread(aside, request, materials):
        return elsewhere
    asked = {"look": look, "request": request, "materials": dict(materials or {}), **more}
    async with Isolated(CHILD, timeout_s=timeout_s) as child:
        return await child.ask(asked)
