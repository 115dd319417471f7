"""Find functions and classes by name."""

from langchain_core.tools import BaseTool

from nodes.tools.framework.derived_tool import build_isolated_tool
from nodes.tools.framework.settings import ToolSettings

from .incident.sources import find_symbols

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def find_symbol(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is read beside the files."""
    repository = str(settings.repository or "")
    return build_isolated_tool("find_symbol", find_symbols, repository=repository)
