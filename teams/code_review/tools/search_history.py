"""The history lens of a code review."""

from langchain_core.tools import BaseTool

from nodes.tools.framework.settings import ToolSettings

from .review.lens_tool import build_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def search_history(settings: ToolSettings) -> BaseTool:
    """Search the repository's history for fixes that a diff undoes, and who knows the files.

    Without SUPERVISE_REPOSITORY nothing is searched, and the gaps say so.
    Example: search_history(diff="change.diff")
    """
    return build_lens_tool(search_history, "history", settings)
