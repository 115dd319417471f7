"""Draft a note on an incident; nothing is sent."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.tools.framework.argument_types import CitedClaim, ReportedFinding

from .incident.note import Audience, compose_note

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def draft_note(
    claims: Annotated[list[CitedClaim], Field(description="The claims of your context, unchanged")],
    findings: Annotated[
        list[ReportedFinding], Field(description="The findings of your context, unchanged")
    ],
    audience: Annotated[Audience, Field(description="Whom the note is for")] = "team",
    headline: Annotated[str, Field(description="What happened, in at most ten words")] = "",
    next_update: Annotated[
        str, Field(description="When the next update is due, if the task gives the time")
    ] = "",
    lacking: Annotated[list[str] | None, InjectedState("lacking")] = None,
) -> dict[str, Any]:
    """Draft a note on an incident in Markdown: impact, cause, proposed fix, next update.

    Pass claims and findings of your context unchanged; the note contains nothing else. `audience`
    is team, or customers, who get no file names, settings or code. Nothing is sent.
    Example: draft_note(claims=[{"text": "86 of 1,200 requests failed.", "source": "app.jsonl"}],
    findings=[], audience="customers", headline="Checkout was failing")
    """
    return compose_note(claims, findings, audience, headline, next_update, lacking or [])
