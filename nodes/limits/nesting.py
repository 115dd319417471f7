"""Limits how deep a JSON value of an untrusted source is nested: saving it is recursive."""

from typing import Any, Final

MAX_LEVELS: Final = 32
"""Of objects and lists within each other that are saved with a run, or sent to a server."""


def is_nested_too_deeply(value: Any, max_levels: int = MAX_LEVELS) -> bool:
    """Return whether objects and lists are nested deeper than a limit; counting ends there."""
    level = [value]
    for _ in range(max_levels + 1):
        inner = [each for each in level if isinstance(each, dict | list | tuple)]
        if not inner:
            return False
        level = [
            part for each in inner for part in (each.values() if isinstance(each, dict) else each)
        ]
    return True
