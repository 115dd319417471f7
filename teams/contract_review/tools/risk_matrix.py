"""Rate findings as risks."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import ReportedFinding

from .contracts.risk import report_risks

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def risk_matrix(
    findings: Annotated[
        list[ReportedFinding],
        Field(description="Findings of the compliance reports, unchanged", max_length=500),
    ],
    lacking: Annotated[list[str] | None, InjectedState("lacking")] = None,
) -> dict[str, Any]:
    """Rank findings by likelihood times impact, and draw the matrix.

    The severity is the impact; the brackets at the end of a message hold the playbook's
    likelihood, such as 4 of 5.
    Example: risk_matrix(findings=[{"severity": "high", "message": "Automatic renewal (clause 2).
    Whoever misses the date is bound again. [auto_renewal 4/5]", "file": "a.txt"}])
    """
    if lacking and not findings:
        undone = "; ".join(lacking)
        raise ToolRefused(f"no risk can be ranked, as the check did not run to its end: {undone}")
    return report_risks(findings, lacking or [])
