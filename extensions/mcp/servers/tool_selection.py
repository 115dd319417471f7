"""Which tools of a server a worker has, under which names, and whether they are still the same."""

import hashlib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

from extensions.mcp.servers.listed_tool import ListedTool
from extensions.mcp.servers.lock_file import LOCK_FILE, Digests
from nodes.errors import McpToolChanged, TeamInvalid
from nodes.limits.patterns import Pattern
from nodes.schemas.mcp_server import split_tool_name
from nodes.schemas.team import Team

MAX_NAME_CHARS: Final = 64
"""Limit of OpenAI for the name of a tool."""
MAX_NAMED_TOOLS: Final = 12
_NOT_IN_NAME: Final = Pattern(r"[^A-Za-z0-9_-]+")


def build_tool_name(server: str, tool: str) -> str:
    """Return the name that a model is shown, such as `github_search_issues`."""
    is_prefixed = tool == server or tool.startswith(f"{server}_")
    name = _NOT_IN_NAME.sub("_", tool if is_prefixed else f"{server}_{tool}")
    if len(name) <= MAX_NAME_CHARS:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME_CHARS - 9]}_{mark}"


def list_patterns(names: Iterable[str], server: str) -> list[str]:
    """Return the tools, or patterns of tools, that names such as `mcp:SERVER/TOOL` want of it."""
    split = (split_tool_name(name) for name in names)
    return [each[1] for each in split if each and each[0] == server]


def select_tools(
    team: Team, worker: str, server: str, listed: Iterable[ListedTool], lock: Digests | None
) -> list[ListedTool]:
    """Return the tools of a server that a worker has.

    Args:
        lock: the digests of the server's tools that were checked; None if none were.

    Raises:
        TeamInvalid: a name of its file is no tool of the server, two workers have one tool, or
            the server describes it wrongly.
        McpToolChanged: a tool is not the one in `mcp.lock.json`.
    """
    tools = {tool.name: tool for tool in listed}
    owners = {each.name: list_patterns(each.tools, server) for each in team.workers if each.tools}
    _check_team_patterns(team, server, tools)
    found = dict[str, ListedTool]()
    for pattern in owners[worker]:
        matching = [tool for name, tool in tools.items() if fnmatchcase(name, pattern)]
        _check_vanished(server, pattern, tools, lock or {})
        if not matching:
            raise _build_no_match_error(worker, server, pattern, tools)
        found |= {tool.name: tool for tool in matching}
    for tool in found.values():
        _check_tool(server, tool, lock)
        _check_owner(server, tool.name, worker, owners)
    return list(found.values())


def _check_team_patterns(team: Team, server: str, tools: Iterable[str]) -> None:
    """Refuse a line of `team.md` that is about no tool: one that should ask would then not."""
    named = [("access", each) for each in team.access]
    named += [("approve", each) for each in team.approve]
    for key, name in named:
        for pattern in list_patterns([name], server):
            if not any(fnmatchcase(tool, pattern) for tool in tools):
                raise TeamInvalid(
                    f"team.md: {key}: {name} is no tool of MCP server {server}",
                    next="supervise check --online TEAM, without this line, lists the tools",
                )


def _check_vanished(
    server: str, pattern: str, tools: Mapping[str, ListedTool], lock: Digests
) -> None:
    gone = [name for name in lock if fnmatchcase(name, pattern) and name not in tools]
    if gone:
        raise _build_change_error(server, gone[0], "the server no longer lists it")


def _check_tool(server: str, tool: ListedTool, lock: Digests | None) -> None:
    if tool.problem:
        raise TeamInvalid(
            f"tool {tool.name} of MCP server {server} is refused",
            cause=tool.problem,
            next="leave it out of the worker's tools, or correct the server",
        )
    if lock is None:
        return
    if tool.name not in lock:
        raise _build_change_error(server, tool.name, f"it is not in {LOCK_FILE}")
    if lock[tool.name] != tool.digest:
        raise _build_change_error(server, tool.name, "its description, schema or hints differ")


def _check_owner(server: str, tool: str, worker: str, owners: Mapping[str, Iterable[str]]) -> None:
    for other, patterns in owners.items():
        if other != worker and any(fnmatchcase(tool, pattern) for pattern in patterns):
            raise TeamInvalid(
                f"workers {worker} and {other} share tool mcp:{server}/{tool}",
                next="name it for one of them",
            )


def _build_change_error(server: str, tool: str, cause: str) -> McpToolChanged:
    return McpToolChanged(
        f"tool {tool} of MCP server {server} is not the one that was checked",
        cause=cause,
        next="read what it does now, then run supervise check --online TEAM to accept it",
    )


def _build_no_match_error(
    worker: str, server: str, pattern: str, tools: Mapping[str, ListedTool]
) -> TeamInvalid:
    close = get_close_matches(pattern, tools, n=1)
    more = f" and {len(tools) - MAX_NAMED_TOOLS} more" if len(tools) > MAX_NAMED_TOOLS else ""
    known = f"it has {', '.join(list(tools)[:MAX_NAMED_TOOLS]) or 'no tools'}{more}"
    return TeamInvalid(
        f"{worker}.md: mcp:{server}/{pattern} is no tool of MCP server {server}",
        cause=f"did you mean {close[0]!r}?" if close else known,
        next="supervise check --online TEAM lists the tools",
    )
