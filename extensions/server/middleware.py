"""The middleware of every server: bounds what a client may take, refuses unknown settings.

Beside them that of the server's `/mcp`, for clients that read.
"""

import ast
import asyncio
import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Final, cast

from langgraph_sdk import Auth
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from extensions.server.authentication import Authenticator, get_authenticator
from graph.settings import Settings
from graph.topology.input_validation import read_context, read_input
from nodes.errors import RequestInvalid, SettingsInvalid, SupervisorError
from nodes.limits.langgraph_keys import DURABILITY_KEY, PREFIX, RESUMING_KEY
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.limits.run_scope import SCOPE_KEY
from nodes.planning.request import read_request
from state import Context, SupervisorState


def list_tenant_middleware(settings: Settings) -> list[Middleware]:
    """Return the middleware in the order in which a request passes it.

    Raises:
        SettingsInvalid: the file of users cannot be used.
    """
    gate = []
    if settings.users_file is not None:
        authenticator = get_authenticator(settings.users_file)
        gate = [Middleware(TokenGateMiddleware, authenticator=authenticator)]
    return [
        *gate,
        Middleware(RetryAfterMiddleware),
        Middleware(BodyLimitMiddleware, max_bytes=settings.max_body_bytes),
    ]


TOO_LARGE: Final = 413


class BodyLimitMiddleware:
    """Answers 413 to a larger body, before more than the limit is in memory."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > self._max_bytes:
            return await self._refuse(scope, receive, send)
        request = _CountedRequest(receive, send, self._max_bytes)
        try:
            await self._app(scope, request.receive, request.send)
        except Exception:  # a server may wrap what `receive` raised in another error
            if not request.is_too_large or request.has_answered:
                raise
        if request.is_too_large and not request.has_answered:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the request is larger than {self._max_bytes:,} bytes (SUPERVISE_MAX_BODY_BYTES)"
        headers = {"Connection": "close"}
        response = JSONResponse({"detail": detail}, status_code=TOO_LARGE, headers=headers)
        await response(scope, receive, send)


class _BodyTooLarge(Exception):
    """More bytes were sent than allowed."""


class _CountedRequest:
    """Counts what is received; the client may have announced no length, or a wrong one."""

    def __init__(self, receive: Receive, send: Send, max_bytes: int) -> None:
        self._receive, self._send, self._left = receive, send, max_bytes
        self.has_answered = False

    @property
    def is_too_large(self) -> bool:
        return self._left < 0

    async def receive(self) -> Message:
        if not self.is_too_large:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
        if self.is_too_large:
            raise _BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        """Send a message; not an answer that was made without the rest of the body."""
        if self.is_too_large and not self.has_answered:
            return
        self.has_answered = True
        await self._send(message)


async def read_body(receive: Receive) -> tuple[bytes, Receive]:
    """Return the body of a request, and a `receive` from which it can be read once more."""
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    kept: Iterator[Message] = iter(messages)

    async def replay() -> Message:
        return next(kept, None) or await receive()

    return b"".join(message.get("body", b"") for message in messages), replay


BODY_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""All routes with these need a token; what needs none is read with GET."""
PROCESS_FIGURES: Final = "/metrics"
"""The servers' own route, for which they ask no token."""
IN_PROCESS_ROOT: Final = "/noauth"
"""Root path of a server's calls to itself; no outside request can set it."""


class TokenGateMiddleware:
    """Answers 401 to a request without a valid token that has a body, or asks for figures.

    The servers' own check of tokens comes after the middleware, which reads bodies.
    """

    def __init__(self, app: ASGIApp, *, authenticator: Authenticator) -> None:
        self._app, self._authenticator = app, authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        is_gated = scope["type"] == "http" and (
            scope["method"] in BODY_METHODS or scope["path"].rstrip("/").endswith(PROCESS_FIGURES)
        )
        if is_gated and scope.get("root_path") != IN_PROCESS_ROOT:
            try:
                await self._authenticator.authenticate(dict(Headers(scope=scope)))
            except Auth.exceptions.HTTPException as refused:
                answer = {"detail": refused.detail}
                response = JSONResponse(answer, refused.status_code, {"Connection": "close"})
                return await response(scope, receive, send)
        await self._app(scope, receive, send)


HEADER: Final = "retry-after"

_waits: ContextVar[list[int] | None] = ContextVar("waits", default=None)
"""The seconds that the request at work was told to wait."""


def note_wait(wait_s: int) -> None:
    """Remember how long the client of this request should wait."""
    waits = _waits.get()
    if waits is not None:
        waits.append(wait_s)


class RetryAfterMiddleware:
    """Adds `Retry-After` to the response of a request whose hook noted a wait.

    A server may drop the headers of what a hook raises.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request; change only its response's headers."""
        waits: list[int] = []
        _waits.set(waits)

        async def add_header(message: Message) -> None:
            if message["type"] == "http.response.start" and waits:
                headers = MutableHeaders(scope=message)
                headers.setdefault(HEADER, str(waits[-1]))
            await send(message)

        await self._app(scope, receive, add_header)


CHECKED_PATHS: Final = Pattern(
    r"(/threads/[^/]+)?/runs(/(stream|wait|batch|crons(/[^/]+)?))?/?|/assistants(/[^/]+)?/?"
    r"|/threads/[^/]+/commands/?"
)
SENT_BY_REMOTE_GRAPH: Final = frozenset({RESUMING_KEY, DURABILITY_KEY})
"""Keys that LangGraph's client of remote graphs passes from the outer graph, as plain values."""


class ContextCheckMiddleware:
    """Answers 422 to a run or an assistant whose context is invalid.

    The server drops keys that the context's schema does not have, so a misspelt cap would be
    ignored. This is for servers that only run graphs of this application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] != "http" or scope["method"] not in ("POST", "PATCH"):
            return await self._app(scope, receive, send)
        if not CHECKED_PATHS.fullmatch(scope["path"]):
            return await self._app(scope, receive, send)
        body, replayed = await read_body(receive)
        if problem := find_context_problem(body):
            return await JSONResponse({"detail": problem}, status_code=422)(scope, receive, send)
        await self._app(scope, replayed, send)


def find_context_problem(body: bytes) -> str:
    """Return the problem of a context in a request's JSON; empty if there is none."""
    try:
        asked = parse_json(body)
    except ValueError:
        return ""  # the server refuses it itself
    for each in map(_get_run, asked if isinstance(asked, list) else [asked]):
        context = each.get("context") if isinstance(each, dict) else None
        try:
            read_context(context if isinstance(context, dict) else None)
        except SettingsInvalid as error:
            return f"{error}; {error.next}"
        configurable = _get_configurable(each)
        if problem := _find_reserved_key(configurable) or _find_misspelt_setting(configurable):
            return problem
    return ""


def _get_run(asked: Any) -> Any:
    """Return what a request asks of a run; a command has it in its `params`."""
    is_command = isinstance(asked, dict) and "method" in asked and "params" in asked
    return asked["params"] if is_command else asked


def _get_configurable(asked: Any) -> dict[str, Any]:
    """Return what a request adds to the configurable; Aegra adds its `checkpoint` as it is."""
    given = asked if isinstance(asked, dict) else {}
    config = given.get("config")
    parts = (given.get("checkpoint"), config.get("configurable") if isinstance(config, dict) else 0)
    return {name: part[name] for part in parts if isinstance(part, dict) for name in part}


def _find_reserved_key(configurable: dict[str, Any]) -> str:
    """Return the problem of keys with which the code of a run recognises a run inside another.

    A run that a client declares to be inside another would not take its thread, nor keep a trace.
    """
    for name in configurable:
        if name == SCOPE_KEY or (name.startswith(PREFIX) and name not in SENT_BY_REMOTE_GRAPH):
            return f"{name[:80]!r} in the configurable is reserved for the server"
    if not isinstance(configurable.get("checkpoint_ns") or "", str):
        return "checkpoint_ns in the configurable is not a string"
    return ""


def _find_misspelt_setting(configurable: dict[str, Any]) -> str:
    """Return the problem of a `configurable`, from which the server takes settings too.

    It also holds keys of other code, so only keys similar to a setting's name are refused.
    """
    known = [field.name for field in fields(Context)]
    for name in configurable:
        if name not in known and (near := get_close_matches(name, known, n=1, cutoff=0.85)):
            return f"unknown setting {name[:80]!r} in the configurable; did you mean {near[0]!r}?"
    return ""


PATH: Final = "/mcp"
STRUCTURED: Final = ("status", "answer")
"""The channels of a run's output that the structured content has."""
ASKING_SETTINGS: Final = ("approve_plan", "approve_above", "ask_human")


class McpRouteMiddleware:
    """Answers a tool call that cannot run with a tool error, and rewrites the results of others.

    The server returns the `repr` of a run's output as a result's text, and answers every error with
    the name of its class alone. All other requests and responses are unchanged.
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
