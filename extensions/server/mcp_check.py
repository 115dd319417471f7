"""Refuses arguments that no team can use, in words, where the server's `/mcp` is called.

The server itself answers every error there with the name of its class alone. This middleware is
for servers that only run graphs of this application.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from extensions.server.request_body import read_body
from graph.topology.input_validation import read_context, read_input
from nodes.errors import RequestInvalid, SettingsInvalid, SupervisorError
from nodes.limits.nesting import parse_json
from nodes.planning.request import read_request
from state import SupervisorState

MCP_PATH: Final = "/mcp"
ASKING_SETTINGS: Final = ("approve_plan", "ask_human")


class McpCheckMiddleware:
    """Answers a tool call whose arguments are invalid with a tool error of one line."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or answer it."""
        is_call = scope["type"] == "http" and scope["method"] == "POST"
        if not is_call or scope["path"].rstrip("/") != MCP_PATH:
            return await self._app(scope, receive, send)
        body, replayed = await read_body(receive)
        if answer := build_refusal(body):
            return await JSONResponse(answer)(scope, receive, send)
        await self._app(scope, replayed, send)


def build_refusal(body: bytes) -> dict[str, Any] | None:
    """Return the answer to a tool call that cannot run; None for every other request."""
    try:
        asked = parse_json(body)
    except ValueError:
        return None  # the server refuses it itself
    is_tool_call = isinstance(asked, dict) and asked.get("method") == "tools/call"
    params = asked.get("params") if is_tool_call else None
    if not isinstance(params, dict):
        return None
    try:
        _check_call(params)
    except SupervisorError as error:
        content = [{"type": "text", "text": error.format_line()}]
        result = {"isError": True, "content": content}
        return {"jsonrpc": "2.0", "id": asked.get("id"), "result": result}
    return None


def _check_call(params: Mapping[str, Any]) -> None:
    """Check the arguments of a tool call.

    Raises:
        RequestInvalid: they hold no request, or one of a wrong type.
        SettingsInvalid: the context is invalid, or lets the run ask a human, which cannot be
            done here.
    """
    given, context = params.get("arguments") or {}, params.get("context") or {}
    if not isinstance(given, dict) or not isinstance(context, dict):
        raise RequestInvalid("arguments and context must be objects", next='{"request": "…"}')
    read_context(context)
    if asking := [name for name in ASKING_SETTINGS if context.get(name)]:
        raise SettingsInvalid(
            f"{asking[0]} cannot be used over /mcp, which has no thread to wait on",
            next="leave it out, or use /runs, /a2a or `supervise mcp`",
        )
    read = read_input(given)
    if not read.get("messages"):
        read_request(cast(SupervisorState, read))  # an input has keys of the state
