"""Find and load the tools of the shipped teams, and the shared ones."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from langchain_core.tools import BaseTool

from nodes.schemas.team import OwnTool
from nodes.tools.framework.catalog import find_own_tools, list_shipped_tools, load_tools
from nodes.tools.framework.settings import ToolSettings

TEAMS = Path(__file__).parents[1] / "teams"


@cache
def find_team_tools() -> dict[str, OwnTool]:
    """Return the tools in the folders of the shipped teams, by name."""
    folders = TEAMS.rglob("tools")
    return {name: tool for folder in folders for name, tool in find_own_tools(folder).items()}


def list_all_tools() -> list[str]:
    """Return the names of the shared tools and of those of the shipped teams."""
    return sorted({*list_shipped_tools(), *find_team_tools()})


def load_shipped_tools(names: Iterable[str], settings: ToolSettings) -> list[BaseTool]:
    """Load tools by name, of whichever team."""
    return load_tools(names, settings, find_team_tools())
