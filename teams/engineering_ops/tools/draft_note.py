"""Draft a note on an incident: facts, impact, cause, fix, and next steps; nothing is sent."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import CitedClaim, UnratedFinding
from nodes.tools.framework.tool_report import SEVERITIES, Severity, ToolReport

from .incident.sources import detect_kind

Audience = Literal["team", "customers"]
MAX_FACTS, MAX_CAUSES, MAX_LINE_CHARS = 7, 4, 600
GRAVE_SEVERITIES: tuple[Severity, ...] = ("critical", "high")
TO_BE_FILLED_IN = "[to be filled in by a person]"
NOT_KNOWN = "Not known yet."


ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
def draft_note(
    claims: Annotated[list[CitedClaim], Field(description="The claims of your context, unchanged")],
    findings: Annotated[
        list[UnratedFinding], Field(description="The findings of your context, unchanged")
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
    causes = _select_causes(findings)
    logged = [claim for claim in claims if detect_kind(claim.source) == "logs"]
    impact = sorted(logged, key=lambda claim: claim.text.startswith("`"))
    others = [claim for claim in claims if claim not in impact]
    if audience == "team":
        title, parts = "Incident note", _compose_for_team(impact, others, causes)
    else:
        title, parts = "Status update", _compose_for_customers(impact, causes)
    head = f"**{sanitize_line(headline, 200) or title}** (a draft; nothing has been sent)"
    foot = f"**Next update:** {sanitize_line(next_update, 200) or TO_BE_FILLED_IN}"
    reply = ToolReport(["\n\n".join([head, *parts, foot])])
    for claim in [*impact[:MAX_FACTS], *others][: 2 * MAX_FACTS]:
        reply.add_claim(claim.text, claim.source, claim.quotation)
    if not impact:
        reply.gaps.append("The note says nothing on the impact: no figures from logs are known.")
    if not causes:
        why = "not all of the work was done" if lacking else "none was found"
        reply.gaps.append(f"The note names no cause: {why}.")
    reply.gaps += [f"The note does not cover what is missing: {each}" for each in lacking or ()]
    reply.gaps.append(
        "Who gets the note, when, and when the next update is due is for a human to decide."
    )
    return reply.to_json()


def _compose_for_team(
    impact: Sequence[CitedClaim], others: Sequence[CitedClaim], causes: Sequence[UnratedFinding]
) -> list[str]:
    known = [_cite(claim.text, claim.source) for claim in others[:MAX_FACTS]]
    told = [_cite(one.message, f"{one.file}:{one.line or ''}".strip(":")) for one in causes]
    facts = [_cite(claim.text, claim.source) for claim in impact[:MAX_FACTS]]
    fixes = [_cite(one.suggestion) for one in causes if one.suggestion]
    return [
        _compose_part("Impact", facts or [NOT_KNOWN]),
        _compose_part("Cause", told or [NOT_KNOWN, *known]),
        _compose_part("Fix (proposed, not applied)", fixes or [TO_BE_FILLED_IN]),
    ]


def _compose_for_customers(
    impact: Sequence[CitedClaim], causes: Sequence[UnratedFinding]
) -> list[str]:
    """Write for customers, without files, lines, settings and code."""
    said = [_cite(claim.text) for claim in impact]
    facts = [text for text in said if "`" not in text and "(line" not in text][:2]
    is_found = any(one.severity in GRAVE_SEVERITIES for one in causes)
    state = "The cause has been found." if is_found else "We are looking for the cause."
    return [
        _compose_part("What you may have noticed", facts or [TO_BE_FILLED_IN]),
        f"**What we are doing:** {state} {TO_BE_FILLED_IN}",
    ]


def _select_causes(findings: Sequence[UnratedFinding]) -> list[UnratedFinding]:
    """Return the findings on code and configuration, the most severe first; a rise is no cause."""
    ranked = sorted(
        (one for one in findings if one.severity not in ("low", "info")),
        key=lambda one: SEVERITIES.index(one.severity),
    )
    held = [one for one in ranked if detect_kind(one.file) != "logs"]
    gravest = [one for one in held if one.severity in GRAVE_SEVERITIES]
    return (gravest or held)[:MAX_CAUSES]


def _cite(text: str, source: str = "") -> str:
    line = sanitize_line(text, MAX_LINE_CHARS)
    return f"{line} ({source})" if source else line


def _compose_part(title: str, lines: Sequence[str]) -> str:
    return f"**{title}**\n\n" + "\n".join(f"- {line}" for line in lines)
