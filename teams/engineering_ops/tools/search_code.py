"""Search the code for words."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.settings import ToolSettings

from .incident.client import run_incident_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def search_code(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is searched beside the artifacts."""

    @tool("search_code")
    async def search(
        query: str,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Search the source files for words; lines that hold most of them come first, 40 at most.

        Example: search_code(query="coupon percent")
        """
        root = str(settings.repository or "")
        return await run_incident_tool("search_code", materials, query=query, repository=root)

    return search
