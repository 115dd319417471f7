"""Build entries from records with named fields: JSON objects and rows of tables."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from extensions.tools.logs.entry import LogEntry
from extensions.tools.logs.failure import MAX_LINE_CHARS, Failure
from extensions.tools.logs.lines import get_level
from extensions.tools.logs.names import NAMES
from extensions.tools.logs.python_traces import HEADER, find_python_failures
from extensions.tools.logs.stacks import find_stack_failures
from extensions.tools.logs.timestamps import parse_time
from nodes.limits.nesting import parse_json

MAX_RECORD_CHARS: Final = 50_000
"""Limit of a line that is parsed as an object."""


def parse_object(line: str) -> Mapping[str, Any] | None:
    """Parse a line as a JSON object; None if it is not one."""
    if not line.startswith("{") or len(line) > MAX_RECORD_CHARS:
        return None
    found = _parse_json(line)
    return found if isinstance(found, dict) else None


def parse_array(text: str) -> list[Mapping[str, Any]] | None:
    """Parse a text as a JSON list of objects; None if it is not one."""
    found = _parse_json(text)
    is_list = isinstance(found, list) and all(isinstance(each, dict) for each in found)
    return found if is_list else None


def _parse_json(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return None


def read_rows(text: str) -> Iterator[tuple[int, Mapping[str, str] | None]]:
    """Yield the rows of a table with their lines; None for one that cannot be read."""
    lines = text.split("\n")
    first = next((n for n, row in enumerate(lines) if row.strip() and row[0] != "#"), 0)
    delimiter = "\t" if "\t" in lines[first] else max(",;", key=lines[first].count)
    rows = csv.DictReader(io.StringIO("\n".join(lines[first:])), delimiter=delimiter)
    while True:
        try:
            row = next(rows, None)
        except csv.Error:
            yield first + rows.reader.line_num, None
            continue
        if row is None:
            return
        yield first + rows.reader.line_num, {key: cell for key, cell in row.items() if key}


def build_entry(source: str, line: int, record: Mapping[str, Any]) -> LogEntry:
    """Build an entry from the fields that are known by their usual names."""
    folded = {str(key).strip().lower().lstrip("@"): value for key, value in record.items()}
    known = {key: _find_value(folded, names) for key, names in NAMES["fields"].items()}
    time, seconds = parse_time(known["time"]), _parse_number(known["s"])
    return LogEntry(
        source,
        line,
        time,
        known["time"] if time else "",
        get_level(known["level"]),
        known["message"][:MAX_LINE_CHARS],
        _parse_count(known["status"], 100, 600),
        seconds * 1000 if seconds is not None else _parse_number(known["ms"]),
        known["version"],
        known["service"],
        _parse_count(known["requests"]),
        _parse_count(known["errors"]),
    )


def find_record_failures(record: Mapping[str, Any], line: int) -> list[Failure]:
    """Return the failures of a trace in a field; all of it is on one line."""
    traces = (_get_trace(record.get(name)) for name in NAMES["fields"]["trace"])
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
        causes=tuple(_move_to_line(cause, line) for cause in failure.causes),
    )


def _get_trace(value: Any) -> str:  # any JSON value
    if isinstance(value, dict):
        value = value.get("stack") or value.get("stacktrace")
    return value if isinstance(value, str) and "\n" in value else ""


def _find_value(folded: Mapping[str, Any], names: Sequence[str]) -> str:
    held = (folded.get(name) for name in names)
    value = next((one for one in held if one not in (None, "")), "")
    return value if isinstance(value, str) else json.dumps(value)


def _parse_number(text: str, least: float = -1e15, most: float = 1e15) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if least <= number < most else None


def _parse_count(text: str, least: float = 0, most: float = 1e15) -> int | None:
    number = _parse_number(text, least, most)
    return None if number is None else int(number)
