"""What a caller gives a run, checked at the door: its input, its settings, edits of its state."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cache
from typing import Any, get_type_hints

from langchain_core.messages import HumanMessage, convert_to_messages
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command
from pydantic import TypeAdapter, ValidationError

from nodes.errors import RequestInvalid, SettingsInvalid
from nodes.models.reader import require_plain
from nodes.redaction import redacted_value
from state import Context, SupervisorState


def read_input(given: Any) -> Any:
    """Give an input with the fields that were left empty taken out; anything else as it is.

    A form, such as Studio's, sends null for a field that nobody filled in. A chat message takes the
    place of a request in words that was given before, planned or not.

    Raises:
        RequestInvalid: a field is not of its kind, or nothing that can be sent and kept.
    """
    if isinstance(given, Command):
        _require_plain("the answer", given.resume)
    if not isinstance(given, Mapping):
        return given
    filled = {name: value for name, value in given.items() if value is not None}
    request, materials = filled.get("request", ""), filled.get("materials", {})
    if not isinstance(request, str):
        raise RequestInvalid(
            "the request is no text", cause=f"it is {request!r:.40}", next="say it in words"
        )
    if not isinstance(materials, Mapping) or not all(
        isinstance(text, str) for item in materials.items() for text in item
    ):
        raise RequestInvalid(
            "the materials are no texts with names", next='give them as {"name": "text"}'
        )
    _require_plain("the request", request)
    _require_plain("the materials", materials)
    if not request and _ends_with_a_person(filled.get("messages")):
        filled["request"] = ""
    return {name: redacted_value(value) for name, value in filled.items()}


def read_context(given: Context | Mapping[str, Any] | None) -> Context:
    """Give the settings of a run as a `Context`.

    Raises:
        SettingsInvalid: there is a key that no setting has, or a value that cannot be.
    """
    if given is None:
        return Context()
    values = asdict(given) if isinstance(given, Context) else dict(given)
    known = {field.name for field in fields(Context)}
    if unknown := sorted(map(str, set(values) - known)):
        raise SettingsInvalid(
            f"unknown setting {unknown[0]!r} in the context", next=f"use one of {sorted(known)}"
        )
    try:
        return _context_reader().validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SettingsInvalid(
            f"{first['loc'][0]} in the context",
            cause=f"{first['msg']}; it is {first['input']!r:.40}",
            next="leave it out to have it as the team and the environment say",
        ) from None


def read_edit(values: Any) -> Any:
    """Give an edit of a run's state in our own types; Studio and other clients send JSON.

    Raises:
        InvalidUpdateError: a value is not of its kind, such as a plan with a cycle; a server's
            client is told why.
    """
    if not isinstance(values, Mapping):
        return values
    readers = _state_readers()
    try:
        return {
            name: readers[name].validate_python(value) if name in readers else value
            for name, value in values.items()
        }
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidUpdateError(f"{error.title} {place}: {first['msg']}") from None


def _ends_with_a_person(messages: Any) -> bool:
    given = messages if isinstance(messages, list) else [messages]
    try:
        return isinstance(convert_to_messages(given[-1:])[-1], HumanMessage)
    except (ValueError, NotImplementedError, IndexError):
        return False  # whether it is a message at all, the channel's reducer says


def _require_plain(what: str, value: Any) -> None:
    """Refuse half characters and numbers beyond 64 bits, which no checkpoint can hold."""
    try:
        require_plain(value)
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise RequestInvalid(f"{what} cannot be kept", cause=str(error)) from None


@cache
def _context_reader() -> TypeAdapter[Context]:
    return TypeAdapter(Context)


@cache
def _state_readers() -> Mapping[str, TypeAdapter[Any]]:
    kinds = get_type_hints(SupervisorState)
    own = (
        "plan",
        "plans",
        "origin",
        "results",
        "ledger",
        "answer",
        "usage",
        "timing",
        "todo",
        "heeded",
        "estimate",
        "given",
    )
    return {name: TypeAdapter(kinds[name]) for name in own}
