"""Check learning objectives against Bloom's taxonomy."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from .learning.client import run_course_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def check_objectives(
    request: str,
    objectives: str = "",
    material: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Check whether each learning objective begins with a measurable verb, and its Bloom level.

    List objectives one per line, or name a material that holds them; without either, all materials
    are searched. For vague verbs such as "understand" better ones are suggested. request is the
    task in words.
    Example: check_objectives(request="check these", objectives="Understand cells\\nLabel a leaf")
    """
    return await run_course_tool(
        "check", request, materials, material=material, objectives=objectives
    )
