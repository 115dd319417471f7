"""The tools of a worker as data, and tools made of such data, which can be offered but not run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from nodes.errors import ToolFailed
from nodes.security.tool_access import read_declaration
from nodes.tools.framework.catalog import ConfirmedTool
from nodes.tools.framework.materials import TAKES_MATERIALS, takes_materials


class DescribedLocalTool(BaseTool):
    """A tool of which only the description is known."""

    def _run(self, *_: Any, **__: Any) -> Any:
        raise ToolFailed("the tool is known by its description alone")


class DescribedTool(DescribedLocalTool, ConfirmedTool):
    """The same for a tool of a server."""


def describe_tools(tools: Iterable[BaseTool]) -> list[dict[str, Any]]:
    """Return what a model, the taint rules and a human are told of each tool, as JSON."""
    return [_describe_tool(tool) for tool in tools]


def _describe_tool(tool: BaseTool) -> dict[str, Any]:
    shown = convert_to_openai_tool(tool)["function"]
    metadata = {**read_declaration(tool), TAKES_MATERIALS: takes_materials(tool)}
    described = {
        "name": tool.name,
        "description": shown.get("description", ""),
        "parameters": shown.get("parameters", {}),
        "metadata": {key: sorted(v) if isinstance(v, set) else v for key, v in metadata.items()},
    }
    if isinstance(tool, ConfirmedTool):
        described |= {"origin": tool.origin, "version": tool.version, "asks": tool.asks}
    return described


def build_described_tools(described: Sequence[Mapping[str, Any]]) -> list[BaseTool]:
    """Return tools that look to a model as the described ones did."""
    return [_build_tool(each) for each in described]


def _build_tool(described: Mapping[str, Any]) -> BaseTool:
    name, text = str(described["name"]), str(described["description"])
    schema = {"title": name, "description": text, **described["parameters"]}
    fields: dict[str, Any] = {"name": name, "description": text, "args_schema": schema}
    fields["metadata"] = dict(described["metadata"])
    if "asks" not in described:
        return DescribedLocalTool(**fields)
    own = {key: described[key] for key in ("origin", "version", "asks")}
    return DescribedTool(**fields, **own)
