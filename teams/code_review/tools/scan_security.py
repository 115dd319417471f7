"""The security lens of a code review."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.settings import ToolSettings

from .review.client import run_review

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def scan_security(settings: ToolSettings) -> BaseTool:
    """Build the lens; `settings.repository` is read where one is set."""

    @tool("scan_security")
    async def scan(
        diff: str = "",
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Scan what a diff adds for code that can be attacked and for secrets.

        `diff` is the name of an artifact; without it all diffs are scanned. Only added and changed
        lines are reported, with severity, file, line and confidence.
        Example: scan_security(diff="change.diff")
        """
        return await run_review("security", diff, materials, settings)

    return scan
