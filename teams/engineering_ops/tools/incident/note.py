"""Draft a note on an incident: facts, impact, cause, fix, and next steps."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from nodes.text.plain_text import sanitize_line
from nodes.tools.evidence.source_check import CitedClaim
from nodes.tools.framework.tool_report import ToolReport
from state import Severity

from .material_types import detect_kind

Audience = Literal["team", "customers"]
MAX_FACTS, MAX_CAUSES = 7, 4
GRAVE_SEVERITIES: tuple[Severity, ...] = ("critical", "high")
TO_BE_FILLED_IN = "[to be filled in by a person]"
_TITLES: Mapping[Audience, str] = {"team": "Incident note", "customers": "Status update"}
_SEVERITY_ORDER: tuple[Severity, ...] = ("critical", "high", "medium", "low", "info")


class KnownFinding(BaseModel):
    """A finding of an earlier report."""

    severity: Severity = "info"
    message: str = Field(min_length=1, max_length=4000)
    file: str = Field("", max_length=1000)
    line: int | None = Field(None, ge=1)
    suggestion: str = Field("", max_length=4000)
    confidence: int = Field(80, ge=0, le=100)


def compose_note(
    claims: Sequence[CitedClaim],
    findings: Sequence[KnownFinding],
    audience: Audience,
    headline: str,
    next_update: str,
    lacking: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the note from claims and findings alone; `lacking` is what their reports lack."""
    causes = _select_causes(findings)
    logged = [claim for claim in claims if detect_kind(claim.source) == "logs"]
    impact = sorted(logged, key=lambda claim: claim.text.startswith("`"))
    reply = ToolReport()
    title = sanitize_line(headline, 200) or _TITLES[audience]
    parts = [f"**{title}** (a draft; nothing has been sent)"]
    if audience == "team":
        parts += _compose_for_team(claims, impact, causes)
    else:
        parts += _compose_for_customers(impact, causes)
    parts.append(f"**Next update:** {sanitize_line(next_update, 200) or TO_BE_FILLED_IN}")
    reply.lines.append("\n\n".join(parts))
    for claim in [*impact[:MAX_FACTS], *(c for c in claims if c not in impact)][: 2 * MAX_FACTS]:
        reply.add_claim(claim.text, claim.source, claim.quote)
    if not impact:
        reply.gaps.append("The note says nothing on the impact: no figures from logs are known.")
    if not causes:
        why = "not all of the work was done" if lacking else "none was found"
        reply.gaps.append(f"The note names no cause: {why}.")
    reply.gaps += [f"The note does not cover what is missing: {each}" for each in lacking]
    reply.gaps.append(
        "Who gets the note, when, and when the next update is due is for a human to decide."
    )
    return reply.to_json()


def _compose_for_team(
    claims: Sequence[CitedClaim], impact: Sequence[CitedClaim], causes: Sequence[KnownFinding]
) -> list[str]:
    others = [_format_claim(claim) for claim in claims if claim not in impact]
    told = [f"{_format_line(one.message)}{_format_place(one)}" for one in causes] or others[
        :MAX_FACTS
    ]
    mends = [one.suggestion for one in causes if one.suggestion]
    return [
        "**Impact**\n\n"
        + _format_list([_format_claim(claim) for claim in impact[:MAX_FACTS]], "Not known yet."),
        "**Cause**\n\n" + ("" if causes else "Not known yet.\n\n") + _format_list(told, ""),
        "**Fix (proposed, not applied)**\n\n"
        + _format_list([_format_line(each) for each in mends], TO_BE_FILLED_IN),
    ]


def _compose_for_customers(
    impact: Sequence[CitedClaim], causes: Sequence[KnownFinding]
) -> list[str]:
    """Write for customers, without files, lines, settings and code."""
    facts = [
        _format_line(claim.text)
        for claim in impact
        if "`" not in claim.text and "(line" not in claim.text
    ]
    is_found = any(one.severity in GRAVE_SEVERITIES for one in causes)
    found, sought = "The cause has been found.", "We are looking for the cause."
    state = found if is_found else sought
    return [
        "**What you may have noticed**\n\n" + _format_list(facts[:2], TO_BE_FILLED_IN),
        f"**What we are doing:** {state} {TO_BE_FILLED_IN}",
    ]


def _select_causes(findings: Sequence[KnownFinding]) -> list[KnownFinding]:
    """Return the findings on code and configuration, the most severe first; a rise is no cause."""
    held = [
        one
        for one in findings
        if detect_kind(one.file) != "logs" and one.severity in ("critical", "high", "medium")
    ]
    ranked = sorted(held, key=lambda one: _SEVERITY_ORDER.index(one.severity))
    gravest = [one for one in ranked if one.severity in GRAVE_SEVERITIES]
    return (gravest or ranked)[:MAX_CAUSES]


def _format_claim(claim: CitedClaim) -> str:
    return (
        f"{_format_line(claim.text)} ({claim.source})" if claim.source else _format_line(claim.text)
    )


def _format_line(text: str) -> str:
    return sanitize_line(text, 600)


def _format_place(one: KnownFinding) -> str:
    if not one.file:
        return ""
    return f" ({one.file}:{one.line})" if one.line else f" ({one.file})"


def _format_list(lines: Sequence[str], otherwise: str) -> str:
    if not lines:
        return otherwise
    return "\n".join(f"- {line}" for line in lines)
