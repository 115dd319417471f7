"""Logs of one JSON object a line: the fields that say when, how grave, and what."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from nodes.tools.failures.failure import MAX_LINE_CHARS, Failure
from nodes.tools.failures.python_traces import HEADER, python_failures
from nodes.tools.support.stacks import stack_failures

MAX_CHARS: Final = 50_000
"""Of a line that is read as an object."""
_TIMES: Final = ("timestamp", "@timestamp", "time", "ts", "asctime", "datetime")
_LEVELS: Final = ("level", "levelname", "severity", "log.level", "lvl")
_MESSAGES: Final = ("message", "msg", "event", "error", "text")
_TRACES: Final = ("exc_info", "exception", "traceback", "stack_trace", "stack", "err", "error")


def json_line(line: str) -> Mapping[str, Any] | None:
    """Read a line as a JSON object; None where it is none."""
    if not line.startswith("{") or len(line) > MAX_CHARS:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def fields(told: Mapping[str, Any]) -> tuple[str, str, str]:
    """Give time, level and message as the object has them."""
    return _first(told, _TIMES), _first(told, _LEVELS), _first(told, _MESSAGES)


def failures_within(told: Mapping[str, Any], number: int) -> list[Failure]:
    """Find the failures of a trace that stands in a field; all of it stands in one line."""
    texts = [text for name in _TRACES if (text := _trace(told.get(name)))]
    if not texts:
        return []
    lines = [line[:MAX_LINE_CHARS] for line in texts[0].split("\n")]
    found = python_failures(lines) if HEADER in texts[0] else stack_failures(lines)
    return [_at(failure, number) for failure in found]


def _at(failure: Failure, number: int) -> Failure:
    return replace(
        failure,
        first=number,
        last=number,
        stated=number,
        frames=tuple(replace(frame, number=number) for frame in failure.frames),
        cause=_at(failure.cause, number) if failure.cause else None,
    )


def _trace(value: Any) -> str:  # whatever the object holds
    if isinstance(value, dict):
        value = value.get("stack") or value.get("stacktrace")
    return value if isinstance(value, str) and "\n" in value else ""


def _first(told: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(told[name]) for name in names if isinstance(told.get(name), str | int)), "")
