"""Tools that a Python program passes as objects; a team's workers name them like any other."""

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.tools import BaseTool

from nodes.errors import SettingsInvalid
from nodes.limits.nesting import SchemaRefused, expand_references
from nodes.schemas.team import OwnTool, Team
from nodes.security.tool_access import read_access


def check_given_tools(tools: Mapping[Any, Any] | None) -> dict[str, BaseTool]:
    """Return the tools by the names under which workers hold them.

    Raises:
        SettingsInvalid: a name or a value cannot be that of a tool.
        TeamInvalid: the access that a tool declares in its metadata is invalid.
    """
    given = dict(tools or {})
    for name, tool in given.items():
        if not isinstance(name, str) or not name.strip() or ":" in name:
            raise SettingsInvalid(
                f"tools has {name!r:.80}, which is not a tool's name",
                next="use the name that a worker's `tools` holds, without a colon",
            )
        if not isinstance(tool, BaseTool):
            raise SettingsInvalid(
                f"tools[{name!r}] is a {type(tool).__name__}, not a tool",
                next="decorate the function with langchain_core.tools.tool",
            )
        if isinstance(tool.args_schema, dict):  # of a server, by an adapter
            try:
                expand_references(tool.args_schema)
            except SchemaRefused as refusal:
                raise SettingsInvalid(
                    f"the schema of tools[{name!r}] is refused",
                    cause=str(refusal),
                    next="do not pass this tool, or correct its schema",
                ) from None
        read_access(tool)
    return given


def declare_given_tools(tools: Mapping[str, BaseTool]) -> dict[str, OwnTool]:
    """Return what the tools read and send, by name; undeclared ones are the least trusted."""
    return {name: _declare(tool) for name, tool in tools.items()}


def add_given_tools(team: Team, declared: Mapping[str, OwnTool]) -> Team:
    """Return a team that has the tools, also in the teams within it.

    Raises:
        SettingsInvalid: no worker holds one of them.
    """
    held = set(_list_held_tools(team))
    if unused := [name for name in declared if name not in held]:
        raise SettingsInvalid(
            f"no worker of team {team.name} has the tool {unused[0]!r}",
            next="name it in a worker's `tools`, or do not pass it",
        )
    return _add(team, declared) if declared else team


def _add(team: Team, declared: Mapping[str, OwnTool]) -> Team:
    workers = tuple(
        worker.model_copy(update={"team": _add(worker.team, declared)}) if worker.team else worker
        for worker in team.workers
    )
    return team.model_copy(update={"workers": workers, "own_tools": {**team.own_tools, **declared}})


def _declare(tool: BaseTool) -> OwnTool:
    stated = tool.metadata or {}
    access: dict[str, Any] = {key: stated[key] for key in ("reads", "sends") if key in stated}
    return OwnTool(**access)


def _list_held_tools(team: Team) -> Iterator[str]:
    yield from team.grant
    for worker in team.workers:
        yield from worker.tools
        if worker.team:
            yield from _list_held_tools(worker.team)
