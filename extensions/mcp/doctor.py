"""What `supervise doctor` finds about the MCP servers of teams; no process is started."""

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from extensions.mcp.servers.lock_file import LOCK_FILE, read_lock
from extensions.mcp.servers.resolved_server import list_unset_variables, resolve_server
from extensions.mcp.team_check import describe_place
from graph.extensions import DoctorCheck
from graph.settings import Settings
from graph.teams.team_loader import list_teams, load_team
from nodes.errors import SettingsInvalid, SupervisorError, TeamInvalid
from nodes.schemas.mcp_server import McpServer
from nodes.schemas.team import Team
from nodes.text.counts import format_count
from nodes.tools.framework.extras import list_missing_packages, write_install_command


def check_mcp_servers(settings: Settings) -> Iterator[DoctorCheck]:
    """Yield a check for each server of each team that loads."""
    try:
        variables = settings.build_tool_settings().variables
    except SettingsInvalid:
        return  # another check reports it
    for folder in list_teams(settings):
        try:
            team = load_team(folder, settings)
        except TeamInvalid:
            continue  # the check of teams reports it
        for name, server in team.mcp_servers.items():
            yield _check_server(team, name, server, variables)


def _check_server(
    team: Team, name: str, server: McpServer, variables: Mapping[str, str]
) -> DoctorCheck:
    title, place = f"MCP {team.name}/{name}", describe_place(server)
    if missing := list_missing_packages("mcp"):
        text = f"{place}; packages are missing: {', '.join(missing)}"
        return DoctorCheck("note", title, text, write_install_command("mcp"))
    if unset := list_unset_variables(server, variables):
        fix = f"set {' and '.join(unset)} in the environment or in a trusted .env"
        return DoctorCheck("note", title, f"{place}; not set: {', '.join(unset)}", fix)
    if server.command and "${" not in server.command and not _finds(server, variables):
        fix = "install it, or correct mcp.json"
        return DoctorCheck("note", title, f"there is no {server.command!r}", fix)
    if server.url and (failure := asyncio.run(_connect(name, server, variables))):
        return DoctorCheck("broken", title, failure.describe(), failure.next)
    try:
        locked = read_lock(Path(server.folder)).get(name)
    except TeamInvalid as error:
        return DoctorCheck("broken", title, str(error), error.next)
    if not locked:
        fix = f"supervise check --online {server.folder}"
        return DoctorCheck("note", title, f"{place}; its tools are not in {LOCK_FILE}", fix)
    return DoctorCheck("ok", title, f"{place}; {format_count(len(locked), 'tool')} checked")


async def _connect(
    name: str, server: McpServer, variables: Mapping[str, str]
) -> SupervisorError | None:
    """Return why a server elsewhere cannot be used; None if it lists its tools."""
    from extensions.mcp.servers.open_sessions import close_sessions, get_session

    try:
        await get_session(resolve_server(name, server, variables))
    except SupervisorError as error:
        return error
    finally:
        await close_sessions()
    return None


def _finds(server: McpServer, variables: Mapping[str, str]) -> bool:
    path = server.env.get("PATH") or variables.get("PATH")
    found = shutil.which(server.command, path=path)
    return bool(found) or Path(server.folder, server.cwd, server.command).is_file()
