"""Which tools of servers a worker has, under which names, and whether they are still the same."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from extensions.mcp.servers.listed_tool import ListedTool, McpAccess, decide_mcp_access
from extensions.mcp.servers.mcp_tool import build_mcp_tool, build_tool_name
from extensions.mcp.servers.server_files import (
    LOCK_FILE,
    Digests,
    ResolvedServer,
    read_lock,
    resolve_server,
)
from extensions.mcp.servers.session import get_session
from nodes.errors import McpToolChanged, TeamInvalid
from nodes.schemas.servers import MCP_PREFIX, split_tool_name
from nodes.schemas.team import Team, Worker
from nodes.tools.framework.catalog import ConfirmedTool
from nodes.tools.framework.settings import ToolSettings

MAX_NAMED_TOOLS: Final = 12


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
        matching = {name: tools[name] for name in tools if fnmatchcase(name, pattern)}
        gone = [each for each in lock or () if fnmatchcase(each, pattern) and each not in tools]
        if gone:
            raise _build_change_error(server, gone[0], "the server no longer lists it")
        if not matching:
            raise _build_no_match_error(worker, server, pattern, tools)
        found |= matching
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


RESERVED_TOOL_NAMES: Final = ("read_material", "Report")
"""Names that each worker's model knows already."""


@dataclass(frozen=True, kw_only=True)
class WorkerTool:
    """A tool of a server, for a worker."""

    worker: str
    server: ResolvedServer
    listed: ListedTool
    access: McpAccess

    @property
    def origin(self) -> str:
        """The tool as a team's files name it."""
        return f"{MCP_PREFIX}{self.server.name}/{self.listed.name}"

    def describe_access(self) -> str:
        """Return what the tool reads and sends, and whether it asks, in words."""
        access = self.access.access
        reads = " and ".join(sorted(access.reads)) or "nothing private or untrusted"
        asks = "; asks a human before each call" if self.access.asks else ""
        return f"reads {reads}; sends {access.sends}{asks}"


async def load_mcp_tools(team: Team, worker: Worker, settings: ToolSettings) -> list[ConfirmedTool]:
    """Return a worker's tools of MCP servers; the servers are connected for it.

    Raises:
        TeamInvalid: a name leads to no tool, or to one that may not be used.
        McpServerFailed: a server cannot be used.
    """
    found = await _find_worker_tools(team, worker, settings, is_locked=True)
    return [build_mcp_tool(each.server, each.listed, each.access) for each in found]


async def find_team_tools(team: Team, settings: ToolSettings) -> dict[str, list[WorkerTool]]:
    """Return the tools of all workers by server, whatever `mcp.lock.json` holds.

    Raises:
        TeamInvalid: a name leads to no tool, or to one that may not be used.
        McpServerFailed: a server cannot be used.
    """
    found: dict[str, list[WorkerTool]] = {name: [] for name in team.mcp_servers}
    for worker in team.workers:
        for tool in await _find_worker_tools(team, worker, settings, is_locked=False):
            found[tool.server.name].append(tool)
    return found


async def _find_worker_tools(
    team: Team, worker: Worker, settings: ToolSettings, *, is_locked: bool
) -> list[WorkerTool]:
    split = (split_tool_name(name) for name in worker.tools)
    tools = list[WorkerTool]()
    for name in dict.fromkeys(each[0] for each in split if each):
        if (described := team.mcp_servers.get(name)) is None:
            raise TeamInvalid(
                f"team {team.name} has no MCP server {name}",
                next="add it to mcp.json, or to mcp_servers of the Team",
            )
        server = resolve_server(name, described, settings.variables, settings.logs)
        lock = await asyncio.to_thread(read_lock, Path(described.folder)) if is_locked else {}
        session = await get_session(server)
        # In a thread: the schemas of a server are read there, which may take a second each.
        selected = await asyncio.to_thread(
            select_tools, team, worker.name, name, session.tools, lock.get(name)
        )
        for listed in selected:
            access = decide_mcp_access(team, name, listed.name, listed.hints)
            tools.append(
                WorkerTool(worker=worker.name, server=server, listed=listed, access=access)
            )
    _require_distinct_names(worker, tools)
    return tools


def _require_distinct_names(worker: Worker, tools: Iterable[WorkerTool]) -> None:
    own = [name.rpartition(":")[2] for name in worker.tools if not split_tool_name(name)]
    own += [name for name in RESERVED_TOOL_NAMES if name not in own]
    named = Counter([*own, *(build_tool_name(t.server.name, t.listed.name) for t in tools)])
    if twice := [name for name, count in named.items() if count > 1]:
        raise TeamInvalid(
            f"worker {worker.name} has two tools that a model would know as {twice[0]!r}",
            next="leave one of them out, or name a server otherwise in mcp.json",
        )
