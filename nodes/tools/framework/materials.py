"""Access the materials of a task from a tool."""

from collections.abc import Mapping
from typing import Annotated, Final

from langchain_core.tools import BaseTool
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel

from nodes.errors import ToolRefused

TAKES_MATERIALS: Final = "takes_materials"
"""Key of the metadata of a tool whose schema is JSON."""
Materials = Annotated[dict[str, str] | None, InjectedState("materials")]
"""The materials of the task, which a tool is given besides its arguments."""


def get_material_text(name: str, materials: Mapping[str, str] | None) -> str:
    """Return a material's text by its name; the end of a path is enough if only one matches.

    Raises:
        ToolRefused: there is no such material; the message names those that exist.
    """
    return (materials or {})[resolve_material_name(name, materials)]


def resolve_material_name(name: str, materials: Mapping[str, str] | None) -> str:
    """Return a material's whole name, as it is cited.

    Raises:
        ToolRefused: as `get_material_text`.
    """
    held = materials or {}
    fitting = [key for key in held if key == name] or [
        key for key in held if key.endswith(f"/{name}") or name.endswith(f"/{key}")
    ]
    if len(fitting) != 1:
        known = ", ".join(held) or "none"
        raise ToolRefused(f"no material is named {name[:200]!r}; materials of this task: {known}")
    return fitting[0]


def takes_materials(tool: BaseTool) -> bool:
    """Return whether a tool is given the materials of the task, besides its arguments."""
    schema = tool.args_schema
    if isinstance(schema, dict):
        return bool((tool.metadata or {}).get(TAKES_MATERIALS))
    fields = schema.model_fields.values() if isinstance(schema, type(BaseModel)) else ()
    given = [each for one in fields for each in one.metadata if isinstance(each, InjectedState)]
    return any(each.field in (None, "materials") for each in given)
