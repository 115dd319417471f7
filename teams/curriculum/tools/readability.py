"""Measure the reading grade of course materials against a target."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .learning.client import run_course_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def readability(
    request: str,
    material: str = "",
    target_grade: float = 0,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Measure how hard English texts are to read, as US school grades, against a target grade.

    Names the hardest sentences of a text that is too hard. Without a material all texts are
    measured; without target_grade it is read from request, the task in words.
    Example: readability(request="is it right for grade 7?", material="leaf.md", target_grade=7)
    """
    return await run_course_tool(
        "measure", request, materials, material=material, target_grade=target_grade
    )
