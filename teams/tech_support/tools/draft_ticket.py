"""Draft a ticket that hands a request to a human."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .support.human_decisions import reject_if_out_of_scope
from .support.log import find_logs, read_log
from .support.ticket import compose_ticket

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def draft_ticket(
    request: str,
    earlier_attempt: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Draft a ticket for a human: severity, evidence of the logs, what was tried, what to ask.

    Nothing is sent or filed. request is the task unchanged; earlier_attempt is what the handoff
    says about an attempt by another worker. An escalation in the answer means that it is not a
    support request: escalate with these words.
    Example: draft_ticket(request="Our bookings of May are gone, please call me back")
    """
    return await asyncio.to_thread(_build_draft, request, earlier_attempt, materials or {})


def _build_draft(request: str, earlier: str, materials: Mapping[str, str]) -> dict[str, Any]:
    if elsewhere := reject_if_out_of_scope(request, materials):
        return elsewhere
    pasted = read_log("the request", request)
    logs = [*find_logs(materials), *([pasted] if pasted.failures else [])]
    return compose_ticket(request, earlier, logs, list(materials))
