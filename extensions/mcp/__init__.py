"""Tools of MCP servers for workers, and the teams as tools of one (`supervise mcp`)."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer

from graph.extensions import DoctorCheck, Extension

if TYPE_CHECKING:
    from graph.settings import Settings
    from nodes.schemas.team import Team, Worker
    from nodes.tools.framework.catalog import ConfirmedTool
    from nodes.tools.framework.settings import ToolSettings


class _Mcp(Extension):
    def add_commands(self, app: typer.Typer) -> None:
        """Add `supervise mcp`."""
        from extensions.mcp.serve_command import serve_mcp

        app.command("mcp")(serve_mcp)

    async def load_tools(
        self, team: "Team", worker: "Worker", settings: "ToolSettings"
    ) -> Sequence["ConfirmedTool"]:
        """Return the worker's tools of MCP servers; their servers are started."""
        from extensions.mcp.servers.worker_tools import load_mcp_tools

        return await load_mcp_tools(team, worker, settings)

    def list_checks(self, settings: "Settings") -> Iterable[DoctorCheck]:
        """Check the servers of each team that loads."""
        from extensions.mcp.checks import check_mcp_servers

        return check_mcp_servers(settings)

    def check_team(self, team: "Team", settings: "Settings", *, is_online: bool) -> Iterable[str]:
        """Connect the team's servers and write its lock, or say that they were not started."""
        from extensions.mcp.checks import check_servers

        if is_online:
            return check_servers(team, settings)
        if not team.mcp_servers:
            return ()
        names = ", ".join(team.mcp_servers)
        return [f"MCP servers, not started: {names} (--online starts them)"]

    def describe_team(self, team: "Team") -> Iterable[str]:
        """Return a line for each server."""
        from extensions.mcp.checks import describe_servers

        return describe_servers(team)


EXTENSION = _Mcp()
