"""What the server's `/mcp` refuses and answers, in words that a client can read.

The server returns the `repr` of a run's output as the text of a tool's result. Here that text
becomes the run's last message, and the answer is added as structured content. It answers every
error with the name of its class alone, so that arguments are checked before. Both are for servers
that only run graphs of this application.
"""

import ast
import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final, cast

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from extensions.server.middleware import read_body
from graph.topology.input_validation import read_context, read_input
from nodes.errors import RequestInvalid, SettingsInvalid, SupervisorError
from nodes.limits.nesting import parse_json
from nodes.planning.request import read_request
from state import SupervisorState

PATH: Final = "/mcp"
STRUCTURED: Final = ("status", "answer")
"""The channels of a run's output that the structured content has."""
ASKING_SETTINGS: Final = ("approve_plan", "approve_above", "ask_human")


class McpRouteMiddleware:
    """Answers a tool call that cannot run with a tool error, and rewrites the results of others.

    All other requests and responses are unchanged.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or answer it."""
        is_call = scope["type"] == "http" and scope["method"] == "POST"
        if not is_call or scope["path"].rstrip("/") != PATH:
            return await self._app(scope, receive, send)
        body, replayed = await read_body(receive)
        if answer := build_refusal(body):
            return await JSONResponse(answer)(scope, receive, send)
        await self._app(scope, replayed, _Rewriting(send).send)


class _Rewriting:
    """Collects a response, and sends it rewritten when it is complete."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._parts: list[bytes] = []

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body" or self._start is None:
            await self._send(message)
            return
        self._parts.append(message.get("body", b""))
        if message.get("more_body"):
            return
        body = await asyncio.to_thread(rewrite_result, b"".join(self._parts))
        MutableHeaders(scope=self._start)["content-length"] = str(len(body))
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body})


def rewrite_result(body: bytes) -> bytes:
    """Return a response in which the output of a run is an answer; any other one unchanged."""
    try:
        response = parse_json(body)
        result = response["result"]
        output = ast.literal_eval(result["content"][0]["text"])
        text = output["messages"][-1]["content"]
        if result.get("isError") or not isinstance(text, str):
            return body
        structured = {name: output[name] for name in STRUCTURED if name in output}
        content = [{"type": "text", "text": text}]
        answered = {**result, "content": content, "structuredContent": structured}
        return json.dumps({**response, "result": answered}, allow_nan=False).encode()
    except (ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError):
        return body


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
