"""Find functions and classes by name."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.settings import ToolSettings

from .incident.client import run_incident_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def find_symbol(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is read beside the artifacts."""

    @tool("find_symbol")
    async def find(
        request: str,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Find where the functions and classes that a request names are defined and used.

        Names are read from Python's syntax; put a name that is an everyday word in backticks.
        Example: find_symbol(request="Who calls `find_coupon`?")
        """
        root = str(settings.repository or "")
        return await run_incident_tool("find_symbol", materials, request=request, repository=root)

    return find
