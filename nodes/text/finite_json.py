"""Writes and reads JSON without the numbers that it lacks, which Python's own accepts."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from nodes.limits.nesting import parse_json


def format_finite_json(value: Any, **options: Any) -> str:
    """Return JSON in which NaN and infinity are null, as any other reader refuses them.

    Args:
        options: of `json.dumps`.

    Raises:
        TypeError, ValueError: the value cannot be written as JSON.
    """
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:
        return json.dumps(_replace_endless(value), **options)


def parse_finite_json(text: str) -> Any:
    """Return the value of JSON; numbers that JSON or a float lacks are None.

    Raises:
        ValueError: it is not JSON, is nested too deeply, or has a number of thousands of digits.
    """
    return parse_json(text, parse_constant=lambda _: None, parse_float=_parse_float)


def _parse_float(text: str) -> float | None:
    value = float(text)
    return value if isfinite(value) else None


def _replace_endless(value: Any) -> Any:
    match value:
        case float():
            return value if isfinite(value) else None
        case Mapping():
            return {key: _replace_endless(item) for key, item in value.items()}
        case list() | tuple():
            return [_replace_endless(item) for item in value]
        case _:
            return value
