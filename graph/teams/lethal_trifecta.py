"""Warns of workers that combine private data, untrusted text and a way to send data out."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from langchain_core.tools import BaseTool

from nodes.schemas.mcp_server import split_tool_name
from nodes.schemas.team import SPECIALIST, Team
from nodes.security.tool_access import (
    UNDECLARED_ACCESS,
    ToolAccess,
    get_declared_access,
    read_access,
)
from nodes.tools.framework.catalog import resolve_tool

_TRIFECTA_TESTS: Final[dict[str, Callable[[ToolAccess], bool]]] = {
    "private data": lambda access: "private" in access.reads,
    "untrusted text": lambda access: "untrusted" in access.reads,
    "a way outside": lambda access: access.sends != "nothing",
}


def list_trifecta_warnings(team: Team) -> list[str]:
    """Return a warning for each worker, and for the grant, whose tools combine all three.

    A run keeps them apart in any case; the warning says what such a worker then cannot do.
    """
    return list(_find_warnings(team))


def find_access(name: str, team: Team) -> ToolAccess:
    """Return what a tool of a team reads and sends; a tool named by its module is imported."""
    if ":" not in name or split_tool_name(name):
        return get_declared_access(name, team)
    try:
        found = resolve_tool(name)
    except Exception:  # an import can raise anything; the run reports it
        return UNDECLARED_ACCESS
    # A function that creates a tool is not called here, since only the run has its arguments.
    return read_access(found) if isinstance(found, BaseTool) else UNDECLARED_ACCESS


def _find_warnings(team: Team) -> Iterator[str]:
    holders = [(worker.name, worker.tools) for worker in team.workers]
    for name, tools in [*holders, (SPECIALIST, team.grant)]:
        brought = {part: _select_tools(team, tools, test) for part, test in _TRIFECTA_TESTS.items()}
        if all(brought.values()):
            parts = ", ".join(f"{part} ({', '.join(names)})" for part, names in brought.items())
            who = "the grant of specialists" if name == SPECIALIST else f"worker {name}"
            yield (
                f"{who} combines {parts}: after it has read private data it may search only with "
                f"words of the request; {_advise(team, tools)}"
            )
    for worker in team.workers:
        if worker.team is not None:
            yield from (f"{worker.name}: {text}" for text in _find_warnings(worker.team))


def _advise(team: Team, tools: Sequence[str]) -> str:
    of_servers = [name for name in tools if split_tool_name(name)]
    if unknown := [name for name in of_servers if not team.find_declared_access(name)]:
        return f"write what {' and '.join(unknown)} does under access in team.md"
    own = [name for name in tools if name in team.own_tools]
    undeclared = [name for name in own if not team.own_tools[name].is_declared]
    if not undeclared:
        return "use two workers for unrestricted searches"
    files = " and ".join(f"tools/{name}.py" for name in undeclared)
    return (
        f"{files} declares no access and counts as doing everything: write what it does, such as "
        'ACCESS = {"reads": ["private"], "sends": "nothing"}'
    )


def _select_tools(
    team: Team, tools: Sequence[str], test: Callable[[ToolAccess], bool]
) -> list[str]:
    return [name for name in tools if test(find_access(name, team))]
