"""Build the tools of the team: each reports on the record in one bundle."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import FileName
from nodes.tools.framework.derived_tool import derive_tool
from nodes.tools.framework.materials import Materials, resolve_material_name
from nodes.tools.framework.tool_report import escalate_out_of_scope

from .record import read_record

MAX_SHOWN_CHARS = 120
_INTENT = Pattern(r"<intent>\n(.*?)\n</intent>", re.DOTALL)
_ADVICE = Pattern(
    r"\bshould\b[^.]{0,80}\?"
    r"|^(?:please )?(?:increase|raise|reduce|lower|adjust|stop|start|switch|order|treat)\b"
    r"|\bprescribe\b|\brecommend\w*|\badvi[cs]e\b|\bdiagnose\b|\bprognos\w+|\blife expectancy\b"
    r"|\bis (?:it|this|that|she|he) (?:safe|dangerous|serious|cancer|an emergency)\b"
    r"|\bcan (?:she|he|they|i|we|the patient) (?:take|have|get|stop)\b"
    r"|\bsafe (?:to|for)\b|\btreatment (?:plan|option)",
    re.IGNORECASE | re.MULTILINE,
)
_READING = Pattern(
    r"\b(?:summar|list|show|overview|history|trend|timeline|record|develop|report|document|state)"
    r"|\b(?:not|no|never|nothing|without)\b",
    re.IGNORECASE,
)
_PART_END = Pattern(r"[\"\n]|(?<=[.?!])\s")


def find_advice_request(messages: Sequence[AnyMessage] | None) -> str:
    """Return the sentence of a task that asks for advice and for no reading; empty if none does."""
    intent = _INTENT.search(str(messages[0].content) if messages else "")
    for part in _PART_END.split(intent[1]) if intent else ():
        if _ADVICE.search(part) and not _READING.search(part):
            return sanitize_line(part, MAX_SHOWN_CHARS)
    return ""


BundleName = Annotated[FileName, Field(description="Name of the FHIR bundle")]
Messages = Annotated[list[AnyMessage] | None, InjectedState("messages")]
"""The worker's conversation; it begins with its task."""


def build_record_tool(name: str, build_report: Callable[..., dict[str, Any]]) -> BaseTool:
    """Build a tool that reports on a record; a task for a clinician's judgement is escalated.

    The tool's description is the docstring of `build_report`, up to what it raises. Its arguments
    are the name of a bundle, and those of `build_report` after the record.

    The tool raises:
        ToolFailed: reading took too long, or failed.
        ToolRefused: no such material, no bundle, an empty one, or not of exactly one patient.
    """

    async def report(
        material: str, materials: Materials = None, messages: Messages = None, **own: Any
    ) -> dict[str, Any]:
        source = resolve_material_name(material, materials)
        record = await asyncio.to_thread(read_record, source, (materials or {})[source])
        if asked := find_advice_request(messages):
            return escalate_out_of_scope(
                f"{asked!r} is for a clinician to answer; ask what is recorded"
            )
        return await asyncio.to_thread(build_report, record, **own)

    injected = {"materials": (Materials, None), "messages": (Messages, None)}
    return derive_tool(
        name, report, build_report, record=None, material=(BundleName, ...), **injected
    )
