"""Build entries from records with named fields: JSON objects and rows of tables."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from nodes.tools.logs.entry import LogEntry
from nodes.tools.logs.failure import MAX_LINE_CHARS, Failure
from nodes.tools.logs.lines import get_level
from nodes.tools.logs.python_traces import HEADER, find_python_failures
from nodes.tools.logs.stacks import find_stack_failures
from nodes.tools.logs.timestamps import parse_time

MAX_RECORD_CHARS: Final = 50_000
"""Limit of a line that is parsed as an object."""
_FIELD_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "time": ("time", "timestamp", "ts", "datetime", "date", "minute", "at", "asctime"),
    "level": ("level", "severity", "loglevel", "levelname", "log_level", "log.level", "lvl"),
    "status": ("status", "status_code", "http_status", "response_status"),
    "ms": (
        *("duration_ms", "latency_ms", "elapsed_ms", "took_ms", "response_time_ms"),
        *("duration", "latency", "elapsed", "response_time"),
    ),
    "s": ("duration_s", "latency_s", "elapsed_s", "response_time_s", "duration_seconds"),
    "message": ("message", "msg", "event", "error", "text", "change", "description"),
    "version": ("version", "release", "build"),
    "service": ("service", "app", "application", "component", "logger"),
    "requests": ("requests", "request_count", "hits"),
    "errors": ("errors", "error_count", "failures", "failed"),
}
_TRACE_NAMES: Final = (
    *("exc_info", "exception", "traceback", "stack_trace", "stacktrace", "stack"),
    *("err", "error", "message"),
)


def parse_object(line: str) -> Mapping[str, Any] | None:
    """Parse a line as a JSON object; None if it is not one."""
    if not line.startswith("{") or len(line) > MAX_RECORD_CHARS:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def parse_array(text: str) -> list[Mapping[str, Any]] | None:
    """Parse a text as a JSON list of objects; None if it is not one."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(found, list) and all(isinstance(each, dict) for each in found)
    return found if is_list else None


def read_rows(text: str) -> Iterator[tuple[int, Mapping[str, str] | None]]:
    """Yield the rows of a table with their lines; None for one that cannot be read."""
    lines = text.split("\n")
    first = next((n for n, row in enumerate(lines) if row.strip() and row[0] != "#"), 0)
    delimiter = "\t" if "\t" in lines[first] else max(",;", key=lines[first].count)
    rows = csv.reader(io.StringIO("\n".join(lines[first:])), delimiter=delimiter)
    columns = list[str]()
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield first + rows.line_num, None
            continue
        if not columns:
            columns = [cell.strip() for cell in cells]
        elif any(cells):
            yield first + rows.line_num, dict(zip(columns, cells, strict=False))


def build_entry(source: str, line: int, record: Mapping[str, Any]) -> LogEntry:
    """Build an entry from the fields that are known by their usual names."""
    folded = {str(key).strip().lower().lstrip("@"): value for key, value in record.items()}
    known = {key: _find_value(folded, names) for key, names in _FIELD_NAMES.items()}
    status, seconds = _parse_number(known["status"]), _parse_number(known["s"])
    time = parse_time(known["time"])
    return LogEntry(
        source,
        line,
        time,
        known["time"] if time else "",
        get_level(known["level"]),
        known["message"][:MAX_LINE_CHARS],
        int(status) if status is not None and 100 <= status < 600 else None,
        seconds * 1000 if seconds is not None else _parse_number(known["ms"]),
        known["version"],
        known["service"],
        _parse_count(known["requests"]),
        _parse_count(known["errors"]),
    )


def find_record_failures(record: Mapping[str, Any], line: int) -> list[Failure]:
    """Return the failures of a trace in a field; all of it is on one line."""
    traces = (_get_trace(record.get(name)) for name in _TRACE_NAMES)
    trace = next(filter(None, traces), "")
    lines = [part[:MAX_LINE_CHARS] for part in trace.split("\n")]
    found = find_python_failures(lines) if HEADER in trace else find_stack_failures(lines)
    return [_move_to_line(failure, line) for failure in found]


def _move_to_line(failure: Failure, line: int) -> Failure:
    return replace(
        failure,
        first_line=line,
        last_line=line,
        error_line=line,
        frames=tuple(replace(frame, log_line=line) for frame in failure.frames),
        cause=_move_to_line(failure.cause, line) if failure.cause else None,
    )


def _get_trace(value: Any) -> str:  # any JSON value
    if isinstance(value, dict):
        value = value.get("stack") or value.get("stacktrace")
    return value if isinstance(value, str) and "\n" in value else ""


def _find_value(folded: Mapping[str, Any], names: tuple[str, ...]) -> str:
    held = (folded.get(name) for name in names)
    value = next((one for one in held if one not in (None, "")), "")
    return value if isinstance(value, str) else json.dumps(value)


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e15 else None


def _parse_count(text: str) -> int | None:
    number = _parse_number(text)
    return int(number) if number is not None and number >= 0 else None
