"""Order topics by their prerequisites, with levels and weeks."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.tools.framework.materials import Materials

from .learning.course_tool import MaterialName, ShortText, run_course_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def prerequisite_graph(
    material: MaterialName = "",
    chains: Annotated[
        list[ShortText],
        Field(
            description="Topics of the task itself, such as Division -> Fractions -> Decimals",
            max_length=50,
        ),
    ] = [],  # noqa: B006  # pydantic copies it
    weeks: Annotated[int | None, Field(description="Weeks the course has", ge=1, le=520)] = None,
    hours_per_week: Annotated[
        float | None,
        Field(description="Hours taught in a week", gt=0, le=168, allow_inf_nan=False),
    ] = None,
    materials: Materials = None,
) -> dict[str, Any]:
    """Order topics so that each comes after its prerequisites; return levels and weeks.

    The topics are in a material (a table with topic, prerequisites, hours, or chains), or given as
    chains. Prerequisites that form a circle are refused, with the circle named.
    Example: prerequisite_graph(material="topics.csv", weeks=6, hours_per_week=3)
    """
    return await run_course_tool(
        "course_plan:plan_course",
        materials=materials or {},
        material=material,
        chains=chains,
        weeks=weeks,
        hours_per_week=hours_per_week,
    )
