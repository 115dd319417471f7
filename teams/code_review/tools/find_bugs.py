"""The bugs lens of a code review."""

from langchain_core.tools import BaseTool

from nodes.tools.framework.settings import ToolSettings

from .review.lens_tool import build_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def find_bugs(settings: ToolSettings) -> BaseTool:
    """Find defects in the logic of what a diff adds, such as mutable defaults or wrong formats.

    Only added and changed lines are reported, with severity, file, line and confidence.
    Example: find_bugs(diff="change.diff")
    """
    return build_lens_tool(find_bugs, "bugs", settings)
