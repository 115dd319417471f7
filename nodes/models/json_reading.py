"""Finds the JSON object in a model's text, and refuses values that a checkpoint cannot store."""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from nodes.limits.nesting import (
    MAX_INTEGER,
    MAX_STORABLE_LEVELS,
    BoundedDecoder,
    NestedTooDeeply,
    is_nested_too_deeply,
    parse_json,
)
from nodes.limits.patterns import Pattern

MAX_STARTS = 64
"""Limit for the opening braces that are tried in a text."""

_FENCE = Pattern(r"```[A-Za-z0-9]*[ \t]*\n")
ENCODED_TWICE = "encoded_twice"
"""Key of a reply's metadata that names the tools whose arguments were JSON inside JSON."""


class InvalidJson(ValueError):
    """There is no usable JSON object; the message explains it to the model that wrote the text."""


def read_json_object(text: str) -> dict[str, Any]:
    """Return the first JSON object of a text; one inside a code fence has priority.

    Raises:
        InvalidJson: there is none, it is cut or broken, it contains numbers that JSON does not
            allow, or it has two values for one key.
    """
    problem = "the answer contains no JSON object"
    fences = _FENCE.finditer(text) if "```" in text else ()
    for part in (*(text[fence.end() :] for fence in fences), text):
        for start in islice(_find_braces(part), MAX_STARTS):
            try:
                parsed, _ = JSON_DECODER.raw_decode(part, start)
            except NestedTooDeeply as error:
                raise InvalidJson(str(error)) from None
            except json.JSONDecodeError as error:
                problem = f"the JSON is broken: {error.msg} at character {error.pos}"
                # An inner object must not be read in place of the broken outer one.
                if part[start + 1 : error.pos].strip():
                    raise InvalidJson(problem) from None
                continue
            require_storable(parsed)
            return dict(parsed)
    raise InvalidJson(problem)


def _find_braces(text: str) -> Iterator[int]:
    start = text.find("{")
    while start >= 0:
        yield start
        start = text.find("{", start + 1)


def require_storable(value: Any) -> None:
    """Raise an error for numbers that are not finite or not within 64 bits, and for deep nesting.

    Raises:
        InvalidJson: there is one.
    """
    if is_nested_too_deeply(value, MAX_STORABLE_LEVELS):
        raise InvalidJson(str(NestedTooDeeply()))
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left += item.values()
        elif isinstance(item, list | tuple):
            left += item
        elif isinstance(item, float) and not math.isfinite(item):
            raise InvalidJson("NaN and Infinity are not JSON numbers")
        elif isinstance(item, int) and not -MAX_INTEGER <= item <= MAX_INTEGER:
            raise InvalidJson("an integer has more than 64 bits")


def _refuse_constant(word: str) -> Any:
    raise InvalidJson(f"{word} is not a JSON number")


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        for key, value in pairs:
            if value != unique[key]:
                raise InvalidJson(f"the key {key[:80]!r} appears twice, with two values")
    return unique


JSON_DECODER = BoundedDecoder(
    parse_constant=_refuse_constant, object_pairs_hook=_reject_duplicate_keys, strict=False
)
"""Refuses two values for one key, and numbers that JSON does not allow."""


def decode_arguments(value: Any) -> dict[str, Any] | None:
    """Return arguments as an object, also when they were encoded as JSON twice; else None."""
    for _ in range(3):
        if isinstance(value, Mapping):
            return dict(value)
        if not isinstance(value, str):
            return None
        try:
            value = parse_json(value, strict=False)
        except ValueError:
            return None
    return None


def is_encoded_twice(arguments: str) -> bool:
    """Return whether arguments are JSON text inside a JSON string."""
    return arguments.lstrip().startswith('"')
