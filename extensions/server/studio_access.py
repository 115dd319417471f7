"""Restricts who may call the development server: programs, and in a browser only Studio's pages.

`langgraph.json` names `app`, whose middleware runs first for every request. Without it any page
that a developer visits could start runs and read their answers: the server allows every origin,
and a form can be sent without CORS. A request for an unknown host name is refused too, since
another site may have pointed its domain here (DNS rebinding).
"""

from collections.abc import Collection
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from extensions.server.aegra_app import (
    build_aegra_app,
    is_loaded_by_aegra,
    refuse_unsafe_start,
    require_users,
)
from extensions.server.live_page import list_page_routes
from extensions.server.middleware import (
    IN_PROCESS_ROOT,
    ContextCheckMiddleware,
    McpRouteMiddleware,
    list_tenant_middleware,
)
from extensions.server.team_routes import list_team_routes
from extensions.server.writes_on_disk import keep_server_writes
from graph.settings import Settings
from nodes.limits.patterns import Pattern

STUDIO_ORIGIN: Final = Pattern(r"https://([a-z0-9-]+\.)*smith\.langchain\.com")


class StudioAccessMiddleware:
    """Answers 403 to requests from other pages than Studio's, or for another host name."""

    def __init__(self, app: ASGIApp, *, origins: Collection[str], hosts: Collection[str]) -> None:
        self._app, self._origins, self._hosts = app, frozenset(origins), frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if problem := self._find_problem(scope):
            await _send_refusal(problem, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _find_problem(self, scope: Scope) -> str:
        """Return why a request is refused; empty if it is allowed."""
        if scope["type"] == "lifespan" or scope.get("root_path") == IN_PROCESS_ROOT:
            return ""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_own_host(_parse_host(f"//{host}")):
            return f"{host[:80]!r} is not a name of this server"
        if origin is None:
            return _find_hidden_origin(headers)
        is_same = origin in (f"http://{host}", f"https://{host}")
        if is_same or origin in self._origins or STUDIO_ORIGIN.fullmatch(origin):
            return ""
        return f"pages of {origin[:80]!r} may not call this server"

    def _is_own_host(self, name: str) -> bool:
        """Return whether a host name is this server's; an IP address cannot be rebound."""
        if name in ("", "localhost") or name in self._hosts:
            return True
        try:
            return bool(ip_address(name))
        except ValueError:
            return False


def build_app(settings: Settings) -> Starlette:
    """Build the app with the live page, whose middleware the server puts before its own.

    A deployed server has its own host names and authentication, so no origin is refused.

    Raises:
        SettingsInvalid: the settings name users, whom the server does not know of.
    """
    own = [*list_tenant_middleware(settings), Middleware(ContextCheckMiddleware)]
    routes = [*list_team_routes(settings), *list_page_routes()]
    if is_loaded_by_aegra():
        return build_aegra_app(own, routes)
    require_users(settings, has_hook=bool(settings.server_hook))
    own.append(Middleware(McpRouteMiddleware))
    if settings.server_edition != "inmem":
        return Starlette(routes=routes, middleware=own)
    keep_server_writes()
    origins = settings.studio_origins
    hosts = {_parse_host(url) for url in (*origins, settings.server_url)}
    access = Middleware(StudioAccessMiddleware, origins=origins, hosts=hosts)
    return Starlette(routes=routes, middleware=[access, *own])


def _find_hidden_origin(headers: Headers) -> str:
    """Return why a request without an origin is refused: another page has it in a picture, say.

    That a page links to this server is allowed.
    """
    is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    is_link = headers.get("sec-fetch-mode") == "navigate"
    return "other pages may not load from this server" if is_foreign and not is_link else ""


async def _send_refusal(problem: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": problem})
        return
    advice = "SUPERVISE_STUDIO_ORIGINS lists addresses that may, such as http://localhost:3000"
    content: dict[str, Any] = {"detail": f"{problem}; {advice}"}
    await JSONResponse(content, status_code=403)(scope, receive, send)


def _parse_host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return "?"


if is_loaded_by_aegra():
    refuse_unsafe_start()
app = build_app(Settings())
