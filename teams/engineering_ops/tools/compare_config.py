"""Compare two configurations."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .incident.client import run_incident_tool
from .incident.note import KnownFinding

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def compare_config(
    request: str,
    findings: list[KnownFinding] | None = None,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Compare configurations of two environments or versions, setting by setting.

    `request` is the user's request in its own words. Artifacts that belong together are paired by
    their names, such as staging.yaml and production.yaml, or app-2.6.env and app-2.7.env; YAML,
    TOML, JSON, INI, .env and properties are read. Pass the findings of earlier reports unchanged:
    settings that they name in backticks are checked first. Secrets are never shown.
    Example: compare_config(request="What differs between staging and production?", findings=[])
    """
    told = [finding.model_dump() for finding in findings or []]
    return await run_incident_tool("compare_config", materials, request=request, findings=told)
