"""The style lens of a code review."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.settings import ToolSettings

from .review.client import run_review

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def check_style(settings: ToolSettings) -> BaseTool:
    """Build the lens; `settings.repository` is read where one is set."""

    @tool("check_style")
    async def check(
        diff: str = "",
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Check what a diff adds against the guidelines among the artifacts, and common style.

        `diff` is the name of an artifact; without it all diffs are read. Guidelines are prose
        (GUIDELINES.md) or ruff's settings (pyproject.toml).
        Example: check_style(diff="change.diff")
        """
        return await run_review("style", diff, materials, settings)

    return check
