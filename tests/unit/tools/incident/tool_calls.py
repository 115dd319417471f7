"""Calling the tools of an incident as a worker's loop does."""

from pathlib import Path
from typing import Any

from nodes.tools.framework.settings import ToolSettings
from tests.shipped_tools import load_shipped_tools

EXAMPLES = Path(__file__).parents[4] / "teams" / "engineering_ops" / "sample"


def read_example_files(*names: str) -> dict[str, str]:
    """Read files of the example as materials."""
    return {Path(name).name: (EXAMPLES / name).read_text(encoding="utf-8") for name in names}


async def call_incident_tool(name: str, materials: dict[str, str], **given: Any) -> dict[str, Any]:
    """Call a tool; `repository` is a setting, all else an argument."""
    settings = ToolSettings(repository=given.pop("repository", None))
    (tool,) = load_shipped_tools([name], settings)
    answer = await tool.ainvoke({**given, "materials": materials})
    assert isinstance(answer, dict)
    return answer
