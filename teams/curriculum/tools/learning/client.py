"""Run an analysis of course materials in a child process."""

from collections.abc import Mapping
from typing import Any

from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.isolation import run_isolated

CHILD_FUNCTION = f"{__package__}.child_program:answer_request"
TIMEOUT_S = 30.0


async def run_course_tool(
    kind: str, request: str, materials: Mapping[str, str] | None, **given: Any
) -> dict[str, Any]:
    """Run one analysis, by its name in the child.

    Raises:
        ToolFailed: it took too long, or failed.
        ToolRefused: it cannot be done.
    """
    asked = {"work": kind, "given": {"request": request, "materials": materials or {}, **given}}
    try:
        answer = await run_isolated(CHILD_FUNCTION, timeout_s=TIMEOUT_S, request=asked)
    except ToolFailed as failure:
        raise ToolFailed(
            f"the materials cannot be read: {failure}; name one of them, or hand over less"
        ) from failure
    if objection := answer.get("objection"):
        raise ToolRefused(objection)
    told: dict[str, Any] = answer["told"]
    return told
