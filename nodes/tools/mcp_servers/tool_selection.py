"""Which tools of a server a worker has, under which names, and whether they are still the same."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from nodes.errors import McpToolChanged, TeamInvalid
from nodes.limits.patterns import Pattern
from nodes.schemas.mcp_server import split_tool_name
from nodes.schemas.team import Team
from nodes.tools.mcp_servers.listed_tool import ListedTool

LOCK_FILE: Final = "mcp.lock.json"
MAX_NAME_CHARS: Final = 64
"""Limit of OpenAI for the name of a tool."""
MAX_NAMED_TOOLS: Final = 12
_NOT_IN_NAME: Final = Pattern(r"[^A-Za-z0-9_-]+")

Digests = Mapping[str, str]


def build_tool_name(server: str, tool: str) -> str:
    """Return the name that a model is shown, such as `github_search_issues`."""
    is_prefixed = tool.startswith(f"{server}_")
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
    team: Team, worker: str, server: str, listed: Iterable[ListedTool]
) -> list[ListedTool]:
    """Return the tools of a server that a worker has.

    Raises:
        TeamInvalid: a name of its file is no tool of the server, two workers have one tool, or
            the server describes it wrongly.
        McpToolChanged: a tool is not the one in `mcp.lock.json`.
    """
    tools = {tool.name: tool for tool in listed}
    owners = {each.name: list_patterns(each.tools, server) for each in team.workers if each.tools}
    lock = read_lock(Path(team.mcp_servers[server].folder)).get(server)
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


def read_lock(folder: Path) -> dict[str, Digests]:
    """Return the digests of each server's tools in `mcp.lock.json`; empty without the file.

    Raises:
        TeamInvalid: the file cannot be read.
    """
    path = folder / LOCK_FILE
    if not path.exists():
        return {}
    try:
        servers = json.loads(path.read_text(encoding="utf-8"))["servers"]
        return {str(name): dict(digests) for name, digests in servers.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TeamInvalid(
            f"{path} cannot be read",
            cause=f"{type(error).__name__}: {error}",
            next=f"supervise check --online {folder} writes it again",
        ) from None


def write_lock(folder: Path, servers: Mapping[str, Iterable[ListedTool]]) -> Path:
    """Write `mcp.lock.json` into a team's folder; return its path."""
    content: dict[str, Any] = {
        name: {tool.name: tool.digest for tool in sorted(tools, key=lambda each: each.name)}
        for name, tools in sorted(servers.items())
    }
    path = folder / LOCK_FILE
    path.write_text(json.dumps({"version": 1, "servers": content}, indent=2) + "\n")
    return path


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
        raise _build_change_error(server, tool.name, "its description or schema is another one")


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
