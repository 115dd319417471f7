"""The bugs lens of a code review."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.settings import ToolSettings

from .review.client import run_review

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def find_bugs(settings: ToolSettings) -> BaseTool:
    """Build the lens; `settings.repository` is read where one is set."""

    @tool("find_bugs")
    async def find(
        diff: str = "",
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Find defects in the logic of what a diff adds, such as mutable defaults or wrong formats.

        `diff` is the name of an artifact; without it all diffs are read. Only added and changed
        lines are reported, with severity, file, line and confidence.
        Example: find_bugs(diff="change.diff")
        """
        return await run_review("bugs", diff, materials, settings)

    return find
