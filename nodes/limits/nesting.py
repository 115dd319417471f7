"""Reads JSON of untrusted sources within a depth: what shows and saves values is recursive.

How deep Python itself reads differs by version: 1,000 levels in 3.11, many more in 3.13.
"""

import json
from typing import Any, Final

MAX_LEVELS: Final = 32
"""Of objects and lists within each other that are saved with a run, or sent to a server."""
MAX_STORABLE_LEVELS: Final = 100
"""Of what a model or a program sends."""
MAX_READ_LEVELS: Final = 200
"""Of any JSON that is read: more, as what was kept is within other values."""
MAX_INTEGER: Final = 2**63 - 1
"""The largest absolute integer that a checkpoint's encoding can store."""
_CONTAINERS: Final = (dict, list, tuple)


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
        if is_nested_too_deeply(value, MAX_READ_LEVELS):
            raise NestedTooDeeply
        return value, end


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Return the value of JSON.

    Args:
        options: of `json.loads`.

    Raises:
        ValueError: it is not JSON, or is nested too deeply.
    """
    return json.loads(text, cls=BoundedDecoder, **options)  # noqa: TID251


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
