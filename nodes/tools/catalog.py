"""Load tools by the names in a team's files; a tool's module is imported on first use."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from nodes.errors import TeamInvalid
from nodes.limits.patterns import Pattern
from nodes.security.tool_access import get_shipped_access, read_access
from nodes.tools.settings import ToolSettings


def list_shipped_tools() -> list[str]:
    """Return the names of the shipped tools: the files here that define their own name."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return [file.stem for file in files if _defines_name(file, file.stem)]


def load_tools(names: Iterable[str], settings: ToolSettings) -> list[BaseTool]:
    """Build tools by name: a file of `nodes/tools`, or `package.module:attribute`.

    Each tool declares what it reads and sends: shipped ones in the catalog, others themselves.

    Raises:
        TeamInvalid: a name leads to no tool, or to one whose declaration cannot be read.
    """
    return [_attach_access(name, _load_tool(name, settings)) for name in names]


def resolve_tool(name: str) -> Any:  # whatever a module holds
    """Return what a tool's name resolves to: a tool, or a function that builds one.

    Raises:
        TeamInvalid: there is no such file, module or attribute.
    """
    if ":" not in name:
        # Not by `list_shipped_tools`, which parses: when two threads parse at the same time, as
        # LangChain does at the start of a run, CPython may raise SystemError in either (gh-106905).
        is_file = name in {file.stem for file in Path(__file__).parent.glob("*.py")}
        found = getattr(import_module(f"nodes.tools.{name}"), name, None) if is_file else None
        if found is None:
            raise _build_unknown_tool_error(name)
        return found
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise TeamInvalid(
            f"tool {name!r} cannot be loaded",
            cause=str(error),
            next="write it as package.module:attribute, importable from where you run",
        ) from error


def _attach_access(name: str, tool: BaseTool) -> BaseTool:
    if ":" not in name:
        return tool.model_copy(update={"metadata": get_shipped_access(name).metadata})
    read_access(tool)
    return tool


def _load_tool(name: str, settings: ToolSettings) -> BaseTool:
    found = resolve_tool(name)
    if isinstance(found, BaseTool):
        return found
    cause = f"it is a {type(found).__name__}"
    if callable(found):
        try:
            built = found(settings)
        except TypeError as error:  # what calling anything but a factory may return
            built, cause = None, str(error)
        if isinstance(built, BaseTool):
            return built
    raise TeamInvalid(
        f"{name!r} is not a tool",
        cause=cause,
        next="decorate it with langchain_core.tools.tool, or return such a tool from it",
    )


def _build_unknown_tool_error(name: str) -> TeamInvalid:
    known = list_shipped_tools()
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return TeamInvalid(
        f"unknown tool {name!r}",
        cause=hint,
        next="name a file of nodes/tools, or package.module:attribute",
    )


def _defines_name(file: Path, name: str) -> bool:
    """Return whether a name is defined at the top level of a file.

    Worker loops are built in threads, and several threads that build Python syntax trees at the
    same time sometimes fail before Python 3.12.
    """
    definition = rf"^(?:(?:async )?def {name}\b|{name}\s*[:=])"
    return bool(Pattern(definition, re.MULTILINE).search(file.read_text(encoding="utf-8")))
