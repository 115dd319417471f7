"""The history lens of a code review."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.settings import ToolSettings

from .review.client import run_review

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def search_history(settings: ToolSettings) -> BaseTool:
    """Build the lens; `settings.repository` is read where one is set."""

    @tool("search_history")
    async def search(
        diff: str = "",
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Search the repository's history for fixes that a diff undoes, and who knows the files.

        `diff` is the name of an artifact; without it all diffs are read. Without
        SUPERVISE_REPOSITORY nothing is searched, and the gaps say so.
        Example: search_history(diff="change.diff")
        """
        return await run_review("history", diff, materials, settings)

    return search
