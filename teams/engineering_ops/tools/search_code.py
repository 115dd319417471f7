"""Search the code for words."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from pydantic import Field

from nodes.tools.framework.argument_types import Query
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def search_code(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is searched beside the files."""

    @tool("search_code")
    async def search(
        query: Annotated[
            Query,
            Field(
                description="Words of the lines to find, of three letters or more", max_length=2000
            ),
        ],
        materials: Materials = None,
    ) -> Any:
        """Search the source files for words; lines that hold most of them come first, 40 at most.

        Example: search_code(query="coupon percent")
        """
        return await run_isolated(
            f"{__package__}.incident.sources:search_lines",
            query=query,
            materials=dict(materials or {}),
            repository=str(settings.repository or ""),
        )

    return search
