"""Rate findings as risks."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolRefused

from .contracts.risk import ReportedFinding, report_risks

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_FINDINGS = 500


@tool
async def risk_matrix(
    findings: list[ReportedFinding],
    lacking: Annotated[list[str] | None, InjectedState("lacking")] = None,
) -> dict[str, Any]:
    """Rank findings by likelihood times impact, and draw the matrix.

    Pass the findings of the compliance report unchanged: the severity is the impact, and the
    brackets at the end of a message hold the playbook's likelihood, such as 4 of 5.
    Example: risk_matrix(findings=[{"severity": "high", "message": "Automatic renewal (clause 2).
    Whoever misses the date is bound again. [auto_renewal 4/5]", "file": "a.txt"}])
    """
    if len(findings) > MAX_FINDINGS:
        raise ToolRefused(f"{len(findings)} findings, of at most {MAX_FINDINGS}; weigh fewer")
    undone = "; ".join(lacking or [])
    if undone and not findings:
        raise ToolRefused(f"no risk can be ranked, as the check did not run to its end: {undone}")
    return report_risks(findings, undone)
