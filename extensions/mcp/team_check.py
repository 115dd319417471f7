"""The MCP servers of a team, as commands show and check them."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from graph.display.text import to_one_line
from graph.settings import Settings
from nodes.errors import TeamInvalid
from nodes.schemas.mcp_server import McpServer
from nodes.schemas.team import Team
from nodes.text.counts import format_count
from nodes.tools.framework.extras import require_packages
from nodes.tools.framework.settings import ToolSettings

MAX_PLACE_CHARS = 200


def describe_place(server: McpServer) -> str:
    """Return how a server is started or reached; its variables are not put in."""
    address = urlsplit(server.url)
    # A password or a key may be in the other parts.
    shown = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
    words = shown if server.url else " ".join((server.command, *server.args))
    return f"{server.transport}: {to_one_line(words, MAX_PLACE_CHARS)}"


def describe_servers(team: Team) -> Iterator[str]:
    """Yield a line for each server of a team."""
    for name, server in team.mcp_servers.items():
        trust = ", trusted" if server.trust else ""
        yield f"MCP server {name}{trust}: {describe_place(server)}"


def check_servers(team: Team, settings: Settings) -> Iterator[str]:
    """Connect a team's servers, write `mcp.lock.json`, and yield its workers' tools, a line each.

    A worker that is itself a team has servers of its own, which are checked too.

    Raises:
        TeamInvalid: packages are missing, or a worker names a tool that it cannot have.
        McpServerFailed: a server cannot be used.
    """
    used = settings.build_tool_settings()
    if team.mcp_servers:
        require_packages("mcp", "MCP servers")
        yield from asyncio.run(_check_servers(team, used))
    for worker in team.workers:
        if worker.team is not None:
            yield from check_servers(worker.team, settings)


async def _check_servers(team: Team, settings: ToolSettings) -> list[str]:
    from extensions.mcp.servers.lock_file import write_lock
    from extensions.mcp.servers.team_servers import find_team_tools

    found = await find_team_tools(team, settings)
    (folder,) = {Path(server.folder) for server in team.mcp_servers.values()}
    before, lines = _read_earlier_lock(folder), list[str]()
    for name, tools in found.items():
        lines.append(f"MCP server {name}: {format_count(len(tools), 'tool')} for this team")
        for tool in tools:
            lines.append(
                f"- {tool.origin} for {tool.worker}"
                f"{_describe_change(before.get(name), tool.listed.name, tool.listed.digest)}: "
                f"{tool.describe_access()}\n  {to_one_line(tool.listed.description, 200)}"
            )
    locked = {
        name: {each.listed.name: each.listed.digest for each in tools}
        for name, tools in found.items()
        if tools
    }
    return [*lines, f"written: {write_lock(folder, locked)}"]


def _read_earlier_lock(folder: Path) -> Mapping[str, Mapping[str, str]]:
    from extensions.mcp.servers.lock_file import read_lock

    try:
        return read_lock(folder)
    except TeamInvalid:
        return {}  # the file is written again


def _describe_change(before: Mapping[str, str] | None, name: str, digest: str) -> str:
    if before is None or before.get(name) == digest:
        return ""
    return ", changed since the last check" if name in before else ", new since the last check"
