"""What commands show and check of the MCP servers of teams."""

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from extensions.mcp.servers.server_files import (
    LOCK_FILE,
    Digests,
    read_lock,
    resolve_server,
    write_lock,
)
from graph.display.text import to_one_line
from graph.extensions import DoctorCheck
from graph.settings import Settings
from graph.teams.team_loader import list_teams, load_team
from nodes.errors import SettingsInvalid, SupervisorError, TeamInvalid
from nodes.schemas.servers import McpServer
from nodes.schemas.team import Team
from nodes.text.counts import format_count
from nodes.text.variables import list_unset_variables
from nodes.tools.framework.extras import (
    list_missing_packages,
    require_packages,
    write_install_command,
)
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
    from extensions.mcp.servers.worker_tools import find_team_tools

    found = await find_team_tools(team, settings)
    (folder,) = {Path(server.folder) for server in team.mcp_servers.values()}
    before, lines = dict[str, Digests](), list[str]()
    with suppress(TeamInvalid):  # the file is written again
        before = read_lock(folder)
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


def _describe_change(before: Mapping[str, str] | None, name: str, digest: str) -> str:
    if before is None or before.get(name) == digest:
        return ""
    return ", changed since the last check" if name in before else ", new since the last check"


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
    if unset := list_unset_variables(server.texts, variables):
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
    from extensions.mcp.servers.session import close_sessions, get_session

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
