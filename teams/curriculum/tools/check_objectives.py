"""Check learning objectives against Bloom's taxonomy."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.tools.framework.materials import Materials

from .learning.course_tool import MaterialName, ShortText, run_course_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def check_objectives(
    material: MaterialName = "",
    objectives: Annotated[
        list[ShortText],
        Field(
            description="Objectives to check, each one sentence; empty to read the materials",
            max_length=200,
        ),
    ] = [],  # noqa: B006  # pydantic copies it
    materials: Materials = None,
) -> dict[str, Any]:
    """Check whether each learning objective begins with a measurable verb, and its Bloom level.

    For vague verbs such as "understand" better ones are suggested.
    Example: check_objectives(objectives=["Understand cells", "Label a leaf"])
    """
    return await run_course_tool(
        "objectives:check_objectives",
        materials=materials or {},
        material=material,
        objectives=objectives,
    )
