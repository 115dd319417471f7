"""The servers of a team: connects those that a worker needs, and returns the worker's tools."""

from collections import Counter

from langchain_core.tools import BaseTool

from nodes.errors import TeamInvalid
from nodes.schemas.mcp_server import split_tool_name
from nodes.schemas.team import Team, Worker
from nodes.security.mcp_access import decide_mcp_access
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.mcp_servers.mcp_tool import build_mcp_tool
from nodes.tools.mcp_servers.open_sessions import get_session
from nodes.tools.mcp_servers.resolved_server import resolve_server
from nodes.tools.mcp_servers.tool_selection import select_tools


async def load_mcp_tools(team: Team, worker: Worker, settings: ToolSettings) -> list[BaseTool]:
    """Return a worker's tools of MCP servers; the servers are connected for it.

    Raises:
        TeamInvalid: a name leads to no tool, or to one that may not be used.
        McpServerFailed: a server cannot be used.
    """
    split = (split_tool_name(name) for name in worker.tools)
    servers = dict.fromkeys(each[0] for each in split if each)
    tools: list[BaseTool] = []
    for name in servers:
        server = resolve_server(name, team.mcp_servers[name], settings.variables, settings.logs)
        session = await get_session(server)
        for listed in select_tools(team, worker.name, name, session.tools):
            access = decide_mcp_access(team, name, listed.name, listed.hints)
            tools.append(build_mcp_tool(server, listed, access))
    named = Counter(tool.name for tool in tools)
    if twice := [name for name, count in named.items() if count > 1]:
        raise TeamInvalid(
            f"worker {worker.name} has two tools that a model would know as {twice[0]!r}",
            next="leave one of them out, or name a server otherwise in mcp.json",
        )
    return tools
