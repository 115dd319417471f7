"""Reads JSON of untrusted sources within a depth: what shows and saves values is recursive.

How deep Python itself reads differs by version: 1,000 levels in 3.11, many more in 3.13.
"""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final
from urllib.parse import unquote

MAX_LEVELS: Final = 32
"""Of objects and lists within each other that are saved with a run, or sent to a server."""
MAX_STORABLE_LEVELS: Final = 100
"""Of what a model or a program sends."""
MAX_READ_LEVELS: Final = 200
"""Of any JSON that is read: more, as what was kept is within other values."""
MAX_INTEGER: Final = 2**63 - 1
"""The largest absolute integer that a checkpoint's encoding can store."""
_CONTAINERS: Final = (dict, list, tuple)
MAX_EXPANDED_CHARS: Final = 64_000
"""Limit for a schema with what its references name, about as JSON."""
MAX_EXPANDED_LEVELS: Final = 48
"""Limit for objects and lists within each other, and references that lead to references."""
_REFERENCE: Final = "$ref"
_DEFINITIONS: Final = ("$defs", "definitions")
_SCHEMAS: Final = ("anyOf", "oneOf", "allOf", "prefixItems", "items")


class NestedTooDeeply(ValueError):
    """A value has objects and lists within each other beyond the limit."""

    def __init__(self) -> None:
        super().__init__("the JSON is nested too deeply")


class BoundedDecoder(json.JSONDecoder):
    """Decodes JSON that is not nested too deeply."""

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        """Return the value at a place of a text, and where it ends.

        Raises:
            NestedTooDeeply: it is.
            json.JSONDecodeError: it is not JSON.
        """
        try:
            value, end = super().raw_decode(s, idx)
        except RecursionError:
            raise NestedTooDeeply from None
        # Without so many brackets it is not, and most JSON has fewer.
        has_many = s.count("[", idx, end) + s.count("{", idx, end) > MAX_READ_LEVELS
        if has_many and is_nested_too_deeply(value, MAX_READ_LEVELS):
            raise NestedTooDeeply
        return value, end


_decoder: Final = BoundedDecoder()


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Return the value of JSON.

    Args:
        options: of `json.loads`.

    Raises:
        ValueError: it is not JSON, or is nested too deeply.
    """
    if options:
        return json.loads(text, cls=BoundedDecoder, **options)  # noqa: TID251
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    return _decoder.decode(text)


def is_nested_too_deeply(value: Any, max_levels: int = MAX_LEVELS) -> bool:
    """Return whether objects and lists are nested deeper than a limit; counting ends there."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(max_levels):
        level = [
            part
            for each in level
            for part in (each.values() if isinstance(each, dict) else each)
            if isinstance(part, _CONTAINERS)
        ]
        if not level:
            return False
    return bool(level)


class SchemaRefused(ValueError):
    """A schema is not one that may be shown to a model; the message says why."""


def expand_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in which each reference is what it names; within itself, it is any value.

    There are limits, since 4 KB of references can name 10**12 parts.

    Raises:
        SchemaRefused: it is larger or deeper than the limits, refers to something that is not in
            it, or has a number that cannot be sent or stored.
    """
    return dict(_Expansion(schema).expand(schema))


class _Expansion:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema, self._chars = schema, 0

    def expand(
        self, value: Any, path: tuple[str, ...] = (), level: int = 0, *, is_schema: bool = True
    ) -> Any:
        """Return a part with what its references name; a schema that is true or false as one.

        Args:
            path: the references that led here.
            is_schema: the part is a schema, or a list of schemas.
        """
        if level > MAX_EXPANDED_LEVELS:
            raise SchemaRefused(f"its references lead deeper than {MAX_EXPANDED_LEVELS} levels")
        if is_schema and isinstance(value, bool):
            return {} if value else {"not": {}}
        self._count(value)
        if isinstance(value, list):
            return [self.expand(part, path, level + 1, is_schema=is_schema) for part in value]
        if not isinstance(value, dict):
            return value
        kept = {
            key: self._expand_keyword(key, part, path, level + 1)
            for key, part in value.items()
            if key != _REFERENCE and key not in _DEFINITIONS
        }
        reference = value.get(_REFERENCE)
        if reference is None or reference in path:
            return kept
        self._count(reference)
        target = _find_target(reference, self._schema)
        return {**self.expand(target, (*path, reference), level + 1), **kept}

    def _expand_keyword(self, key: str, value: Any, path: tuple[str, ...], level: int) -> Any:
        if key != "properties" or not isinstance(value, dict):
            return self.expand(value, path, level, is_schema=key in _SCHEMAS)
        if _REFERENCE in value:
            raise SchemaRefused(f"it has a property named {_REFERENCE}")
        self._count(value)
        return {name: self.expand(part, path, level + 1) for name, part in value.items()}

    def _count(self, value: Any) -> None:
        """Add the size of a value without its parts.

        Raises:
            SchemaRefused: the sum is over the limit, or the value is a number beyond JSON's.
        """
        match value:
            case dict():
                self._chars += 2 + sum(len(key) + 4 for key in value)
            case list():
                self._chars += 2 + len(value)
            case str():
                self._chars += len(value) + 2
            case int() if abs(value) > MAX_INTEGER:
                raise SchemaRefused("it has an integer of more than 64 bits")
            case float() if not isfinite(value):
                raise SchemaRefused("it has a number that is not finite")
            case _:
                self._chars += 5
        if self._chars > MAX_EXPANDED_CHARS:
            size = f"{MAX_EXPANDED_CHARS:,} characters"
            raise SchemaRefused(f"with its references replaced, it has more than {size}")


def _find_target(reference: Any, schema: Any) -> Any:
    """Return the part of a schema that a reference such as `#/$defs/Name` names.

    Raises:
        SchemaRefused: it names none, or none within the schema.
    """
    if not isinstance(reference, str) or not f"{reference}/".startswith("#/"):
        raise SchemaRefused(f"it refers to {reference!r:.80}, which is no part of it")
    target = schema
    try:
        for part in unquote(reference).split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            target = target[int(name)] if isinstance(target, list) else target[name]
    except (LookupError, TypeError, ValueError):
        target = None
    if not isinstance(target, dict | bool):
        raise SchemaRefused(f"it refers to {reference!r:.80}, which is no schema in it")
    return target
