"""Serves clients over streamable HTTP: on this machine, or with a token on a network."""

import hmac
import socket
from ipaddress import ip_address
from typing import Any, Final

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from extensions.mcp.server.arguments import MAX_ARGUMENT_BYTES
from nodes.errors import SettingsInvalid

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
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise SettingsInvalid(
            f"cannot listen on {address}",
            cause=error.strerror or str(error),
            next="name another address as HOST:PORT, such as 127.0.0.1:8765",
        ) from None


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
