"""Measure the reading grade of course materials against a target."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.tools.framework.materials import Materials

from .learning.course_tool import MaterialName, run_course_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def readability(
    material: MaterialName = "",
    target_grade: Annotated[
        float | None,
        Field(
            description="US school grade that the texts are for", gt=0, le=20, allow_inf_nan=False
        ),
    ] = None,
    materials: Materials = None,
) -> dict[str, Any]:
    """Measure how hard English texts are to read, as US school grades, against a target grade.

    Names the hardest sentences of a text that is too hard.
    Example: readability(material="leaf.md", target_grade=7)
    """
    return await run_course_tool(
        "difficulty:measure_difficulty",
        materials=materials or {},
        material=material,
        target_grade=target_grade,
    )
