"""Learning objectives held against Bloom's taxonomy."""

import asyncio
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.learning.assessment import assessed
from nodes.tools.learning.chosen import chosen, not_of_teaching
from nodes.tools.learning.objectives import holds_objectives, objectives_in, objectives_of


@tool
async def check_objectives(
    request: str,
    objectives: str = "",
    material: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Tell whether each learning objective begins with a measurable verb, and of which Bloom level.

    Give objectives one a line, or a material that holds them; without either, all materials are
    searched. Vague verbs such as "understand" come back with better ones. request is the task in
    words.
    Example: check_objectives(request="check these", objectives="Understand cells\\nLabel a leaf")
    """
    if handed := await asyncio.to_thread(not_of_teaching, f"{request} {objectives}", materials):
        return handed
    return await asyncio.to_thread(_assessed, objectives, material, materials)


def _assessed(objectives: str, material: str, materials: dict[str, str] | None) -> dict[str, Any]:
    if objectives.strip():
        return assessed(objectives_in(objectives))
    held = chosen(material, materials, holds_objectives)
    return assessed([each for name, text in held.items() for each in objectives_of(name, text)])
