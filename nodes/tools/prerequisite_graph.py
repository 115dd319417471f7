"""Topics in the order of their prerequisites, by levels and weeks."""

import asyncio
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.learning.chosen import chosen, not_of_teaching
from nodes.tools.learning.plan import plan
from nodes.tools.learning.topics import holds_topics
from nodes.tools.learning.weeks import Frame, frame_of

Materials = Annotated[dict[str, str] | None, InjectedState("materials")]


@tool
async def prerequisite_graph(
    request: str,
    material: str = "",
    weeks: int = 0,
    hours_a_week: float = 0,
    materials: Materials = None,
) -> dict[str, Any]:
    """Order topics so that each comes after its prerequisites; give levels and weeks.

    The topics stand in a material (CSV, YAML or Markdown with topic, prerequisites, hours), or in
    request as chains. Prerequisites that go in a circle are refused, with the circle named.
    Example: prerequisite_graph(request="Division -> Fractions -> Decimals", weeks=6)
    """
    if handed := await asyncio.to_thread(not_of_teaching, request, materials):
        return handed
    frame = frame_of(request, weeks, hours_a_week)
    return await asyncio.to_thread(_planned, request, material, materials, frame)


def _planned(
    request: str, material: str, materials: dict[str, str] | None, frame: Frame
) -> dict[str, Any]:
    held = chosen(material, materials, holds_topics)
    return plan(request, held, frame)
