"""Order topics by their prerequisites, with levels and weeks."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .learning.client import run_course_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def prerequisite_graph(
    request: str,
    material: str = "",
    weeks: int = 0,
    hours_a_week: float = 0,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Order topics so that each comes after its prerequisites; return levels and weeks.

    The topics are in a material (CSV, YAML or Markdown with topic, prerequisites, hours), or in
    request as chains. Prerequisites that form a circle are refused, with the circle named.
    Example: prerequisite_graph(request="Division -> Fractions -> Decimals", weeks=6)
    """
    return await run_course_tool(
        "plan", request, materials, material=material, weeks=weeks, hours_a_week=hours_a_week
    )
