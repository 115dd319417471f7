"""The servers of a team: connects those that are needed, and returns the workers' tools."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from extensions.mcp.servers.listed_tool import ListedTool
from extensions.mcp.servers.lock_file import read_lock
from extensions.mcp.servers.mcp_tool import build_mcp_tool
from extensions.mcp.servers.open_sessions import get_session
from extensions.mcp.servers.resolved_server import ResolvedServer, resolve_server
from extensions.mcp.servers.tool_selection import build_tool_name, select_tools
from nodes.errors import TeamInvalid
from nodes.schemas.mcp_server import MCP_PREFIX, McpServer, split_tool_name
from nodes.schemas.team import Team, Worker
from nodes.security.mcp_access import McpAccess, decide_mcp_access
from nodes.tools.framework.confirmed_tool import ConfirmedTool
from nodes.tools.framework.settings import ToolSettings

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
        described = _get_server(team, name)
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


def _get_server(team: Team, name: str) -> McpServer:
    if name not in team.mcp_servers:
        raise TeamInvalid(
            f"team {team.name} has no MCP server {name}",
            next="add it to mcp.json, or to mcp_servers of the Team",
        )
    return team.mcp_servers[name]


def _require_distinct_names(worker: Worker, tools: Iterable[WorkerTool]) -> None:
    own = [name.rpartition(":")[2] for name in worker.tools if not split_tool_name(name)]
    own += [name for name in RESERVED_TOOL_NAMES if name not in own]
    named = Counter([*own, *(build_tool_name(t.server.name, t.listed.name) for t in tools)])
    if twice := [name for name, count in named.items() if count > 1]:
        raise TeamInvalid(
            f"worker {worker.name} has two tools that a model would know as {twice[0]!r}",
            next="leave one of them out, or name a server otherwise in mcp.json",
        )
