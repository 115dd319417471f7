"""A tool with effects elsewhere: its name in the trace, and whether a human is asked first."""

from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool


class ConfirmedTool(BaseTool):
    """A tool that may ask a human before each call."""

    origin: str = ""
    """What it is, for humans: `mcp:github/create_issue`."""
    version: str = ""
    """Changes when the tool does."""
    asks: bool = True
    """Whether a human is asked before each call."""

    def check_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Do nothing if a call may have these arguments.

        Raises:
            ToolRefused: it may not; the message says why.
        """


def get_origin(tool: BaseTool | None, name: str) -> str:
    """Return what a tool is, for humans; its name where that is all there is."""
    return (tool.origin if isinstance(tool, ConfirmedTool) else "") or name


def is_of_server(tool: BaseTool | None) -> bool:
    """Return whether a server answers a tool's calls."""
    return isinstance(tool, ConfirmedTool)
