"""Report the metrics of an incident, from its logs."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .incident.client import run_incident_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def log_metrics(
    request: str,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Compute requests, error rate and percentiles of duration by time, and the first error.

    `request` is the user's request in its own words. All logs among the artifacts are read: CSV,
    JSON lines, or lines that begin with a time. Errors are statuses from 500, else lines of level
    ERROR and above. The metrics before and after the last deployment before the errors are
    compared.
    Example: log_metrics(request="When did the errors begin, and how many requests failed?")
    """
    return await run_incident_tool("log_metrics", materials, request=request)
