"""Refuses unknown settings in the context of a run that a client asks a server for.

The server drops keys that the context's schema does not have, so a misspelt cap would be ignored.
This middleware is for servers that only run graphs of this application.
"""

from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from extensions.server.middleware import read_body
from graph.topology.input_validation import read_context
from nodes.errors import SettingsInvalid
from nodes.limits.langgraph_keys import DURABILITY_KEY, PREFIX, RESUMING_KEY
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.limits.run_scope import SCOPE_KEY
from state import Context

CHECKED_PATHS: Final = Pattern(
    r"(/threads/[^/]+)?/runs(/(stream|wait|batch|crons(/[^/]+)?))?/?|/assistants(/[^/]+)?/?"
    r"|/threads/[^/]+/commands/?"
)
SENT_BY_REMOTE_GRAPH: Final = frozenset({RESUMING_KEY, DURABILITY_KEY})
"""Keys that LangGraph's client of remote graphs passes from the outer graph, as plain values."""


class ContextCheckMiddleware:
    """Answers 422 to a run or an assistant whose context is invalid."""

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
