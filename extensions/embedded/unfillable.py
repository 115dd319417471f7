"""Warns of a team's own tools that are never called without a language model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from langchain_core.utils.function_calling import convert_to_openai_tool

from extensions.embedded.arguments import read_type
from extensions.embedded.tool_calls import FILLERS, read_parameters
from nodes.errors import TeamInvalid, ToolFailed
from nodes.schemas.team import OwnTool, Team
from nodes.tools.framework.catalog import find_own_tools, load_tools
from nodes.tools.framework.isolation import run_isolated_blocking
from nodes.tools.framework.settings import ToolSettings

FIND_FUNCTION: Final = "extensions.embedded.unfillable:find_unfillable"
TIMEOUT_S: Final = 60.0


def list_unfillable_warnings(team: Team) -> list[str]:
    """Return a warning for each tool with a required list or object, which no rule can fill.

    The tools are imported in a child process; those that cannot be are reported elsewhere.
    """
    folders = {each.folder for each in team.own_tools.values() if each.folder}
    found: dict[str, list[str]] = {}
    for folder in sorted(folders):
        try:
            found |= run_isolated_blocking(FIND_FUNCTION, timeout_s=TIMEOUT_S, folder=str(folder))
        except ToolFailed:
            continue
    return [
        f"without a language model {name} is never called: no rule fills its required "
        f"{', '.join(parameters)}"
        for name, parameters in found.items()
    ]


def find_unfillable(folder: str) -> dict[str, list[str]]:
    """Return the parameters by tool that no rule fills; runs in the child process."""
    try:
        own = find_own_tools(Path(folder))
    except TeamInvalid:
        return {}
    found = {name: _list_parameters(name, own) for name in own}
    return {name: parameters for name, parameters in found.items() if parameters}


def _list_parameters(name: str, own: Mapping[str, OwnTool]) -> list[str]:
    try:
        (tool,) = load_tools([name], ToolSettings(), own)
    except TeamInvalid:
        return []
    schema: dict[str, Any] = convert_to_openai_tool(tool)["function"].get("parameters") or {}
    return _list_nested(schema)


def _list_nested(schema: Mapping[str, Any]) -> list[str]:
    """Return the required lists and objects of a tool's JSON schema, which no rule fills."""
    parameters, required = read_parameters(schema)
    return [name for name in required if name not in FILLERS and _is_nested(parameters[name])]


def _is_nested(parameter: Mapping[str, Any]) -> bool:
    """Return whether it is an object, or a list of other things than names and choices."""
    items = read_type(parameter.get("items"))
    if parameter["type"] == "array":
        return not ("enum" in items or items.get("format") in ("file", "date", "identifier"))
    return "enum" not in parameter and parameter["type"] in ("object", "")
