"""Read logs of one JSON object per line: the fields for time, level and message."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from nodes.tools.failures.failure import MAX_LINE_CHARS, Failure
from nodes.tools.failures.python_traces import HEADER, find_python_failures

from .stacks import find_stack_failures

MAX_CHARS: Final = 50_000
"""Limit of a line that is parsed as an object."""
_TIME_FIELDS: Final = ("timestamp", "@timestamp", "time", "ts", "asctime", "datetime")
_LEVEL_FIELDS: Final = ("level", "levelname", "severity", "log.level", "lvl")
_MESSAGE_FIELDS: Final = ("message", "msg", "event", "error", "text")
_TRACE_FIELDS: Final = (
    "exc_info",
    "exception",
    "traceback",
    "stack_trace",
    "stack",
    "err",
    "error",
)


def parse_json_line(line: str) -> Mapping[str, Any] | None:
    """Parse a line as a JSON object; None if it is not one."""
    if not line.startswith("{") or len(line) > MAX_CHARS:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def get_fields(told: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return time, level and message of the object."""
    return (
        _get_first(told, _TIME_FIELDS),
        _get_first(told, _LEVEL_FIELDS),
        _get_first(told, _MESSAGE_FIELDS),
    )


def find_failures(told: Mapping[str, Any], number: int) -> list[Failure]:
    """Return the failures of a trace in a field; all of it is on one line."""
    texts = [text for name in _TRACE_FIELDS if (text := _get_trace(told.get(name)))]
    if not texts:
        return []
    lines = [line[:MAX_LINE_CHARS] for line in texts[0].split("\n")]
    found = find_python_failures(lines) if HEADER in texts[0] else find_stack_failures(lines)
    return [_move_to_line(failure, number) for failure in found]


def _move_to_line(failure: Failure, number: int) -> Failure:
    return replace(
        failure,
        first_line=number,
        last_line=number,
        error_line=number,
        frames=tuple(replace(frame, log_line=number) for frame in failure.frames),
        cause=_move_to_line(failure.cause, number) if failure.cause else None,
    )


def _get_trace(value: Any) -> str:  # any JSON value
    if isinstance(value, dict):
        value = value.get("stack") or value.get("stacktrace")
    return value if isinstance(value, str) and "\n" in value else ""


def _get_first(told: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(told[name]) for name in names if isinstance(told.get(name), str | int)), "")
