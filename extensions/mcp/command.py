"""`supervise mcp`: teams as tools for the programs that speak MCP."""

import logging
from collections.abc import Sequence

from extensions.mcp.server.http_transport import PATH, listen, serve_http
from extensions.mcp.server.served_teams import ServedTeam, load_served_teams
from extensions.mcp.server.server import build_server
from extensions.mcp.server.stdio_transport import serve_stdio
from extensions.mcp.server.tool_calls import ToolCalls
from graph.commands.cancellation import run_cancellable
from graph.display.stderr_console import print_to_stderr
from graph.settings import Settings
from graph.teams.team_loader import list_teams
from nodes.errors import TeamInvalid
from nodes.text.counts import format_count
from state import Context


def serve_teams(
    names: Sequence[str], settings: Settings, *, http: str | None, context: Context
) -> int:
    """Serve teams until the client leaves, or a signal ends the server; return the exit code."""
    _silence_libraries()
    teams = load_served_teams(names, settings) if names else _load_all(settings)
    calls = ToolCalls(teams, settings, context, is_local=http is None)
    served = format_count(len(teams), "team")
    if http is None:
        print_to_stderr(f"serving {served} over stdio: {', '.join(teams)}", style="dim")
        run_cancellable(serve_stdio(build_server(calls)), farewell=_describe_end)
        return 0
    token = settings.mcp_token.get_secret_value() if settings.mcp_token else ""
    listener = listen(http, has_token=bool(token))
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print_to_stderr(f"serving {served} at http://{shown}:{port}{PATH}", style="dim")
    run_cancellable(serve_http(build_server(calls), listener, token), farewell=_describe_end)
    return 0


def _silence_libraries() -> None:
    """Drop what libraries log, which are tracebacks of connections that a client has left."""
    for name in ("mcp", "sse_starlette", "uvicorn"):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.addHandler(logging.NullHandler())


def _load_all(settings: Settings) -> dict[str, ServedTeam]:
    """Return the teams that have a name; one that cannot be loaded is left out, and named."""
    found: dict[str, ServedTeam] = {}
    for folder in list_teams(settings):
        try:
            found |= load_served_teams([folder], settings)
        except TeamInvalid as error:
            print_to_stderr(f"warning: team {folder.name} is left out: {error}", style="yellow")
    return found


def _describe_end() -> str:
    return "stopped. kept: all threads. next: supervise runs"
