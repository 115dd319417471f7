"""Makes the server's `/mcp` return an answer that a client can read.

The server returns the `repr` of a run's output as the text of a tool's result. Here that text
becomes the run's last message, and the answer is added as structured content.
"""

import ast
import asyncio
import json
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nodes.limits.nesting import parse_json

PATH: Final = "/mcp"
STRUCTURED: Final = ("status", "answer")
"""The channels of a run's output that the structured content has."""


class McpAnswerMiddleware:
    """Rewrites the results of tool calls; all other responses are unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, and rewrite its response if it calls a tool."""
        is_call = scope["type"] == "http" and scope["method"] == "POST"
        if is_call and scope["path"].rstrip("/") == PATH:
            await self._app(scope, receive, _Rewriting(send).send)
        else:
            await self._app(scope, receive, send)


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
