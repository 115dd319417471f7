"""Checks the arguments of a call against the schema of a tool's server, in limited time."""

from collections.abc import Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from nodes.text.plain_text import sanitize_line

MAX_COMPARISONS: Final = 100_000
"""Of the parts of a schema with those of arguments: less than a second. The server checks more."""
MAX_PROBLEM_CHARS: Final = 300
_OF_VALUES: Final = frozenset(("type", "enum", "const", "required")) | {
    f"{bound}{what}"
    for bound in ("min", "max", "exclusiveMin", "exclusiveMax")
    for what in ("imum", "Length", "Items", "Properties")
}
_OF_SCHEMAS: Final = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
"""With these, what is left out of a schema makes it wider: what it accepts, is accepted. Others,
such as `pattern` and `unevaluatedProperties`, may take hours or raise; the server checks them."""


class ArgumentCheck:
    """Checks arguments by those keywords of a schema whose time is limited."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take a schema without references."""
        checked = _widen(schema)
        self._parts = _count_parts(checked)
        self._validator = Draft202012Validator(checked)

    def find_problem(self, arguments: Mapping[str, Any]) -> str:
        """Return which argument does not fit and why; empty where none was found."""
        if self._parts * _count_parts(arguments) > MAX_COMPARISONS:
            return ""
        error = next(self._validator.iter_errors(dict(arguments)), None)
        if error is None:
            return ""
        place = ".".join(map(str, error.absolute_path))
        text = f"{place}: {error.message}" if place else str(error.message)
        return sanitize_line(text, MAX_PROBLEM_CHARS)


def _widen(schema: Any) -> Any:
    """Return a schema without the keywords that are not checked."""
    if not isinstance(schema, dict):
        return schema
    widened = {key: part for key, part in schema.items() if key in _OF_VALUES}
    for key in _OF_SCHEMAS & schema.keys():  # one of them, or more: the server counts
        widened["anyOf" if key == "oneOf" else key] = [_widen(part) for part in schema[key]]
    if "properties" in schema:
        widened["properties"] = {k: _widen(part) for k, part in schema["properties"].items()}
    if "items" in schema:
        widened["items"] = _widen(schema["items"])
    if "additionalProperties" in schema and "patternProperties" not in schema:
        widened["additionalProperties"] = _widen(schema["additionalProperties"])
    return widened


def _count_parts(value: Any) -> int:
    """Return how many values a JSON value holds; a long text counts as several."""
    match value:
        case dict():
            return 1 + sum(map(_count_parts, value.values()))
        case list():
            return 1 + sum(map(_count_parts, value))
        case str():
            return 1 + len(value) // 1000
        case _:
            return 1
