"""Explain logged exceptions by the code that raised them."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.settings import ToolSettings

from .incident.client import run_incident_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def explain_error(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is read beside the artifacts."""

    @tool("explain_error")
    async def explain(
        request: str,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Explain the exceptions that are logged: the failing line, why it raised, how to fix it.

        `request` is the user's request in its own words. Python tracebacks among the artifacts are
        followed into the source files: it distinguishes a bug from a value that a setting supplied,
        and in that case states in `invalidates` that there is no bug. Repeat that in your report.
        Example: explain_error(request="Find the bug behind the errors in checkout")
        """
        root = str(settings.repository or "")
        return await run_incident_tool("explain_error", materials, request=request, repository=root)

    return explain
