"""Find the JSON object in what a model wrote, and nothing that a checkpoint could not hold."""

import json
import math
from typing import Any

from nodes.limits.patterns import Pattern

MAX_STARTS = 64
"""Opening braces tried before the text is given up."""
MAX_INTEGER = 2**63 - 1
"""Of what a checkpoint's encoding holds, either way."""

_FENCE = Pattern(r"```[A-Za-z0-9]*[ \t]*\n")


class InvalidJson(ValueError):
    """There is no usable JSON object; the message says why to the model that wrote it."""


def read_json_object(text: str) -> dict[str, Any]:
    """Return the first JSON object of a text; one inside a fence goes first.

    Raises:
        Unfit: there is none, it is cut or broken, it holds numbers that JSON does not have, or it
            gives one key two values.
    """
    problem = "the answer holds no JSON object"
    fenced = (text[fence.end() :] for fence in _FENCE.finditer(text))
    for part in (*fenced, text):
        starts = [match.start() for match in Pattern(r"\{").finditer(part)]
        for start in starts[:MAX_STARTS]:
            try:
                found, _ = _DECODER.raw_decode(part, start)
            except RecursionError:
                raise InvalidJson("the JSON is nested too deep") from None
            except json.JSONDecodeError as error:
                problem = f"the JSON is broken: {error.msg} at character {error.pos}"
                # What begins as an object and breaks must not be read as one of its own parts.
                if part[start + 1 : error.pos].strip():
                    raise InvalidJson(problem) from None
                continue
            require_storable_numbers(found)
            return dict(found)
    raise InvalidJson(problem)


def require_storable_numbers(value: Any) -> None:
    """Refuse numbers that are not finite or not within 64 bits.

    Raises:
        Unfit: there is one.
    """
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left += item.values()
        elif isinstance(item, list | tuple):
            left += item
        elif isinstance(item, float) and not math.isfinite(item):
            raise InvalidJson("NaN and Infinity are no JSON numbers")
        elif isinstance(item, int) and not -MAX_INTEGER <= item <= MAX_INTEGER:
            raise InvalidJson("an integer has more than 64 bits")


def _refuse_constant(word: str) -> Any:
    raise InvalidJson(f"{word} is no JSON number")


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        for key, value in pairs:
            if value != found[key]:
                raise InvalidJson(f"the key {key[:80]!r} stands twice, with two values")
    return found


_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, object_pairs_hook=_reject_duplicate_keys, strict=False
)
