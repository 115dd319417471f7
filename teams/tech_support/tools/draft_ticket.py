"""Draft a ticket that hands a request to a human."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from extensions.tools.logs.reader import is_log, read_log
from nodes.tools.framework.argument_types import Text
from state import Severity

from .support.ticket import Detail, Matter, Ticket, compose_ticket

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def draft_ticket(
    asked: Annotated[
        Text, Field(description="What the user asks for or reports, in the user's words")
    ],
    title: Annotated[str, Field(description="The matter in at most ten words")] = "",
    matter: Annotated[
        Matter,
        Field(
            description="What it is about, which decides whose ticket it is; `callback` is a wish "
            "to talk to a human"
        ),
    ] = "technical",
    severity: Annotated[
        Severity,
        Field(
            description="critical: nobody can work, data are lost, or strangers have access; "
            "high: some cannot work, or a deadline is near; medium: something is broken; low: the "
            "rest"
        ),
    ] = "medium",
    tried: Annotated[
        list[str] | None, Field(description="What the user has tried already, each in few words")
    ] = None,
    known: Annotated[
        list[Detail] | None,
        Field(description="What the user states already, so that the ticket does not ask for it"),
    ] = None,
    earlier_attempt: Annotated[
        str, Field(description="What the handoff says about an earlier attempt")
    ] = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Draft a ticket for a human: severity, evidence of the logs, what was tried, what to ask.

    Nothing is sent or filed.
    Example: draft_ticket(asked="Our bookings of May are gone", matter="data_loss",
    severity="critical", tried=["restarted the service"], known=["time"])
    """
    ticket = Ticket(
        asked=asked,
        title=title,
        matter=matter,
        severity=severity,
        tried=tried or [],
        known=known or [],
        earlier_attempt=earlier_attempt,
    )
    return await asyncio.to_thread(_build_draft, ticket, materials or {})


def _build_draft(ticket: Ticket, materials: Mapping[str, str]) -> dict[str, Any]:
    pasted = read_log("the request", ticket.asked)
    logs = [read_log(name, text) for name, text in materials.items() if is_log(name, text)]
    return compose_ticket(ticket, [*logs, *([pasted] if pasted.failures else [])], list(materials))
