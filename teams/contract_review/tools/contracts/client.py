"""Send requests to the child process that reads contracts."""

from collections.abc import Mapping
from typing import Any

from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.isolation import run_isolated

CHILD_FUNCTION = f"{__package__}.child_program:answer_request"
TIMEOUT_S = 60.0


async def ask_worker(operation: str, materials: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """Send one request; `more` holds its arguments as JSON values.

    Raises:
        ToolFailed: reading took too long, or failed.
        ToolRefused: the contract, the playbook or the arguments cannot be used.
    """
    request = {"operation": operation, "materials": dict(materials), **more}
    try:
        answer: dict[str, Any] = await run_isolated(
            CHILD_FUNCTION, timeout_s=TIMEOUT_S, request=request
        )
    except ToolFailed as failure:
        raise ToolFailed(f"reading {failure}; give a shorter or cleaner text") from failure
    if refusal := answer.get("refusal"):
        raise ToolRefused(str(refusal))
    return answer
