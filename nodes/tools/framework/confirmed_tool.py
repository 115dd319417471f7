"""A tool with effects elsewhere: its name in the trace, and whether a human is asked before calls."""

from langchain_core.tools import BaseTool


class ConfirmedTool(BaseTool):
    """A tool that may ask a human before each call."""

    origin: str = ""
    """What it is, for humans: `mcp:github/create_issue`."""
    asks: bool = True
    """Whether a human is asked before each call."""


def get_origin(tool: BaseTool | None, name: str) -> str:
    """Return what a tool is, for humans; its name where that is all there is."""
    return (tool.origin if isinstance(tool, ConfirmedTool) else "") or name
