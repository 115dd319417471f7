"""Explain logged exceptions by the code that raised them."""

from langchain_core.tools import BaseTool

from nodes.tools.framework.derived_tool import build_isolated_tool
from nodes.tools.framework.settings import ToolSettings

from .incident.explanation import explain_errors

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_WRITTEN_BYTES = 20_000_000
"""The source files are written to a temporary folder for the linter."""


def explain_error(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is read beside the files."""
    return build_isolated_tool(
        "explain_error",
        explain_errors,
        max_written_bytes=MAX_WRITTEN_BYTES,
        repository=str(settings.repository or ""),
    )
