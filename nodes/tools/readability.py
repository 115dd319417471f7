"""The reading grade of course materials against a target."""

import asyncio
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.learning.chosen import chosen, not_of_teaching
from nodes.tools.learning.difficulty import difficulty, target_of
from nodes.tools.learning.prose import is_prose


@tool
async def readability(
    request: str,
    material: str = "",
    target_grade: float = 0,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Measure how hard English texts are to read, as US school grades, against a target grade.

    Names the hardest sentences of a text that is too hard. Without a material all texts are
    measured; without target_grade it is taken from request, the task in words.
    Example: readability(request="is it right for grade 7?", material="leaf.md", target_grade=7)
    """
    if handed := await asyncio.to_thread(not_of_teaching, request, materials):
        return handed
    target = target_of(request, target_grade)
    return await asyncio.to_thread(_measured, material, materials, target)


def _measured(
    material: str, materials: dict[str, str] | None, target: float | None
) -> dict[str, Any]:
    return difficulty(chosen(material, materials, is_prose), target)
