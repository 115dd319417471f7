"""Report the metrics of an incident, from its logs."""

from typing import Any

from langchain_core.tools import tool

from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def log_metrics(materials: Materials = None) -> Any:
    """Compute requests, error rate and percentiles of duration by time, and the first error.

    All logs among the files are read: CSV, JSON lines, or lines with times. Errors are statuses
    from 500, else lines of level ERROR and above. The metrics before and after the last deployment
    before the errors are compared. Example: log_metrics()
    """
    return await run_isolated(
        f"{__package__}.incident.metrics:compute_metrics",
        materials=dict(materials or {}),
    )
