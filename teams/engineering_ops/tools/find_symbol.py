"""Find functions and classes by name."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from pydantic import Field

from nodes.tools.framework.argument_types import Identifier
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_NAMES = 5


def find_symbol(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is read beside the files."""

    @tool("find_symbol")
    async def find(
        names: Annotated[
            list[Annotated[Identifier, Field(max_length=200)]],
            Field(description="Names of functions and classes, such as `Shop.charge` or `charge`"),
        ],
        materials: Materials = None,
    ) -> Any:
        """Find where functions and classes are defined and used; the first 5 names are looked up.

        Example: find_symbol(names=["find_coupon"])
        """
        return await run_isolated(
            f"{__package__}.incident.sources:find_symbols",
            names=names[:MAX_NAMES],
            materials=dict(materials or {}),
            repository=str(settings.repository or ""),
        )

    return find
