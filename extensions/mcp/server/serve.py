"""Serves teams over stdio to one client, or over HTTP: here, or with a token on a network."""

import hmac
import logging
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TextIO

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from extensions.mcp.server.server import ToolCalls, build_server
from extensions.mcp.server.tools import MAX_ARGUMENT_BYTES, ServedTeam, load_served_teams
from graph.commands.cancellation import run_cancellable
from graph.display.stderr_console import print_to_stderr
from graph.settings import Settings
from graph.teams.team_loader import list_teams
from nodes.errors import SettingsInvalid, TeamInvalid, translate_os_errors
from nodes.net.connection import is_loopback
from nodes.text.counts import format_count
from state import Context


async def serve_stdio(server: Server[Any, Any]) -> None:
    """Serve until the client closes stdin; runs in flight are then cancelled, and kept."""
    with _take_streams() as (incoming, outgoing):
        wrapped = anyio.wrap_file(incoming), anyio.wrap_file(outgoing)
        async with stdio_server(*wrapped) as (read, write):
            await server.run(read, write, server.create_initialization_options())


@contextmanager
def _take_streams() -> Iterator[tuple[TextIO, TextIO]]:
    """Return stdin and stdout; what else prints, or reads, gets stderr and an empty input."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # without stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    with (
        open(incoming, encoding="utf-8", errors="replace") as reader,
        open(outgoing, "w", encoding="utf-8", errors="replace") as writer,
    ):
        yield reader, writer


PATH: Final = "/mcp"
MAX_BODY_BYTES: Final = 4 * MAX_ARGUMENT_BYTES
"""JSON may write a character as several."""
MAX_SESSIONS: Final = 100
SHUTDOWN_GRACE_S: Final = 1
_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


def listen(address: str, *, has_token: bool) -> socket.socket:
    """Return a socket that listens at HOST:PORT; port 0 is any free one.

    Raises:
        SettingsInvalid: the address cannot be used, or others can reach it without a token.
    """
    host, port = _split_address(address)
    if not has_token and not is_loopback(host):
        raise SettingsInvalid(
            f"other machines can reach {address}, and no token is set",
            next="set SUPERVISE_MCP_TOKEN, or listen on 127.0.0.1",
        )
    advice = "name another address as HOST:PORT, such as 127.0.0.1:8765"
    with translate_os_errors(SettingsInvalid, f"cannot listen on {address}", next=advice):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)


async def serve_http(server: Server[Any, Any], listener: socket.socket, token: str) -> None:
    """Serve until the process is asked to end; runs in flight are then cancelled, and kept.

    Args:
        token: what clients send as `Authorization: Bearer …`; empty for none.
    """
    config = uvicorn.Config(
        build_app(server, listener.getsockname()[:2], token),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_S,
    )
    await uvicorn.Server(config).serve([listener])


def build_app(server: Server[Any, Any], address: tuple[str, int], token: str) -> ASGIApp:
    """Return the application that serves the protocol at `/mcp`."""
    sessions = StreamableHTTPSessionManager(
        server,
        security_settings=_restrict_callers(*address),
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=MAX_SESSIONS,
    )
    endpoint = _Endpoint(sessions, token)
    return Starlette(routes=[Route(PATH, endpoint=endpoint)], lifespan=lambda _: sessions.run())


class _Endpoint:
    """Passes requests to the sessions, with the right token only."""

    def __init__(self, sessions: StreamableHTTPSessionManager, token: str) -> None:
        self._sessions, self._token = sessions, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        said = Headers(scope=scope).get("authorization", "").removeprefix("Bearer ").encode()
        if self._token and not hmac.compare_digest(said, self._token):
            refusal = Response("a bearer token is needed", 401, {"www-authenticate": "Bearer"})
            await refusal(scope, receive, send)
        else:
            await self._sessions.handle_request(scope, receive, send)


def _restrict_callers(host: str, port: int) -> TransportSecuritySettings:
    """Return which names and pages may call: another site may point its domain here.

    A server on all addresses does not know its names; there the token alone decides, which no
    foreign page has.
    """
    if host in ("0.0.0.0", "::"):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    shown = f"[{host}]" if ":" in host else host
    names = _LOOPBACK_NAMES if is_loopback(host) else (shown,)
    return TransportSecuritySettings(
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )


def _split_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise SettingsInvalid(
            f"{address[:80]!r} is no address", next="write HOST:PORT, such as 127.0.0.1:8765"
        )
    return host.strip("[]"), int(port)


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
