"""What a caller gives a run, checked at the door: its input and its settings."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nodes.errors import RequestInvalid, SettingsInvalid
from state import Context


def read_input(given: Any) -> Any:
    """Give an input with the fields that were left empty taken out; anything else as it is.

    A form, such as Studio's, sends null for a field that nobody filled in.

    Raises:
        RequestInvalid: a field is not of its kind.
    """
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
    return filled


def read_context(given: Context | Mapping[str, Any] | None) -> Context:
    """Give the settings of a run as a `Context`.

    Raises:
        SettingsInvalid: there is a key that no setting has, or a value of another kind.
    """
    if given is None:
        return Context()
    if isinstance(given, Context):
        return given
    known = {field.name for field in fields(Context)}
    if unknown := sorted(set(given) - known):
        raise SettingsInvalid(
            f"unknown setting {unknown[0]!r} in the context", next=f"use one of {sorted(known)}"
        )
    try:
        return _reader().validate_python(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SettingsInvalid(f"{first['loc'][0]} in the context", cause=first["msg"]) from None


@cache
def _reader() -> TypeAdapter[Context]:
    return TypeAdapter(Context)
