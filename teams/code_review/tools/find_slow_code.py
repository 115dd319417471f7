"""The performance lens of a code review."""

from langchain_core.tools import BaseTool

from nodes.tools.framework.settings import ToolSettings

from .review.lens_tool import build_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def find_slow_code(settings: ToolSettings) -> BaseTool:
    """Find needless work in what a diff adds, such as slow loops and blocking calls in coroutines.

    Only added and changed lines are reported, with severity, file, line and confidence.
    Example: find_slow_code(diff="change.diff")
    """
    return build_lens_tool(find_slow_code, "performance", settings)
