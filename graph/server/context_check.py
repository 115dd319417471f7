"""Refuses unknown settings in the context of a run that a client asks a server for.

The server drops keys that the context's schema does not have, so a misspelt cap would be no cap.
This middleware is for servers whose graphs are all of this application.
"""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.topology.input_validation import read_context
from nodes.errors import SettingsInvalid
from nodes.limits.patterns import Pattern
from state import Context

CHECKED_PATHS: Final = Pattern(
    r"(/threads/[^/]+)?/runs(/(stream|wait|batch|crons(/[^/]+)?))?/?|/assistants(/[^/]+)?/?"
)


class ContextCheckMiddleware:
    """Answers 422 to a run or an assistant whose context no run of ours could have."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or scope["method"] not in ("POST", "PATCH"):
            return await self._app(scope, receive, send)
        if not CHECKED_PATHS.fullmatch(scope["path"]):
            return await self._app(scope, receive, send)
        messages = [message async for message in _read_body(receive)]
        body = b"".join(message.get("body", b"") for message in messages)
        if problem := find_context_problem(body):
            return await JSONResponse({"detail": problem}, status_code=422)(scope, receive, send)
        await self._app(scope, _replay_messages(messages, receive), send)


def find_context_problem(body: bytes) -> str:
    """Return what is wrong with the contexts in a request's JSON; empty when nothing is."""
    try:
        asked = json.loads(body)
    except ValueError:
        return ""  # the server says so itself
    for each in asked if isinstance(asked, list) else [asked]:
        context = each.get("context") if isinstance(each, dict) else None
        try:
            read_context(context if isinstance(context, dict) else None)
        except SettingsInvalid as error:
            return f"{error}; {error.next}"
        if problem := _find_misspelt_setting(each):
            return problem
    return ""


def _find_misspelt_setting(asked: Any) -> str:
    """Return what is wrong with a `configurable`, from which the server takes settings too.

    It holds keys of others as well, so only those that are nearly a setting's name are refused.
    """
    config = asked.get("config") if isinstance(asked, dict) else None
    configurable = config.get("configurable") if isinstance(config, dict) else None
    known = [field.name for field in fields(Context)]
    for name in configurable if isinstance(configurable, dict) else ():
        # A run refuses the names that are its own.
        if name not in known and (near := get_close_matches(name, known, n=1, cutoff=0.85)):
            return f"unknown setting {name!r} in the configurable; {near[0]!r} is one"
    return ""


async def _read_body(receive: Receive) -> AsyncIterator[Message]:
    while True:
        message = await receive()
        yield message
        if not message.get("more_body"):
            return


def _replay_messages(messages: list[Message], receive: Receive) -> Receive:
    kept: Iterator[Message] = iter(messages)

    async def replayed() -> Message:
        return next(kept, None) or await receive()

    return replayed
