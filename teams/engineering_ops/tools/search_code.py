"""Search the code for words."""

from langchain_core.tools import BaseTool

from nodes.tools.framework.derived_tool import build_isolated_tool
from nodes.tools.framework.settings import ToolSettings

from .incident.sources import search_lines

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def search_code(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is searched beside the files."""
    repository = str(settings.repository or "")
    return build_isolated_tool("search_code", search_lines, repository=repository)
