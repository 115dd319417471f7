"""Request an analysis of code, logs or configuration from a child process."""

import asyncio
from collections.abc import Mapping
from typing import Any

from nodes.tools.framework.isolation import run_isolated

from .out_of_scope import reject_if_out_of_scope

CHILD_FUNCTION = f"{__package__}.child_program:answer_request"
MAX_WRITTEN_BYTES = 20_000_000
TIMEOUT_S = 60.0


async def run_incident_tool(
    look: str,
    materials: Mapping[str, str] | None,
    *,
    request: str = "",
    timeout_s: float = TIMEOUT_S,
    **more: Any,  # further arguments of an analysis; JSON
) -> dict[str, Any]:
    """Return the child's report for one kind of analysis.

    Raises:
        ToolFailed: it took too long, or failed.
        ToolRefused: the materials do not have what is needed.
    """
    if elsewhere := await asyncio.to_thread(reject_if_out_of_scope, request, materials):
        return elsewhere
    asked = {"look": look, "request": request, "materials": dict(materials or {}), **more}
    report: dict[str, Any] = await run_isolated(
        CHILD_FUNCTION, timeout_s=timeout_s, max_written_bytes=MAX_WRITTEN_BYTES, request=asked
    )
    return report
