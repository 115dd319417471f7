"""Read logs of any usual format: lines, JSON objects, and tables of requests or metrics."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from extensions.tools.logs.entries import (
    Log,
    LogEntry,
    get_level,
    infer_levels,
    parse_line,
    parse_time,
)
from extensions.tools.logs.failures import (
    HEADER,
    MAX_LINE_CHARS,
    NAMES,
    Failure,
    find_python_failures,
    find_stack_failures,
)
from nodes.limits.nesting import parse_json
from nodes.text.csv_table import is_table_name
from nodes.text.plain_text import sanitize_text

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


MAX_LINES: Final = 200_000
MIN_STAMPED_LINES: Final = 3
MIN_LOG_SHARE: Final = 0.3
"""Share of lines with a time or a level, for a text to be a log."""
MIN_PROSE_SHARE: Final = 0.5
"""The same, if the name is that of a page."""
PAGE_SUFFIXES: Final = (".md", ".markdown", ".rst", ".html", ".htm", ".xhtml", ".pdf", ".docx")
LOG_SUFFIXES: Final = (".log", ".jsonl", ".ndjson")
_JSON_SUFFIXES: Final = (".jsonl", ".ndjson", ".json")
Record = tuple[int, Mapping[str, Any] | None]
"""A line, and the object or row that begins there; None if it cannot be read."""


@lru_cache(maxsize=16)
def read_log(name: str, text: str) -> Log:
    """Parse a text as a log; other texts have neither entries nor failures."""
    text = sanitize_text(text).rstrip("\n")
    every = text.split("\n")
    lines = [line[:MAX_LINE_CHARS] for line in every[:MAX_LINES]]
    records, plain = _read_records(name.lower(), text, every[:MAX_LINES])
    held = [(n, each) for n, each in records if each is not None]
    entries = [build_entry(name, n, each) for n, each in held]
    entries += [e for n, line in enumerate(plain, 1) if (e := parse_line(name, n, line))]
    failures = [*find_python_failures(plain), *find_stack_failures(plain)]
    failures += [failure for n, each in held for failure in find_record_failures(each, n)]
    lacks_levels = bool(entries) and not held and _lacks_levels(entries)
    return Log(
        name,
        tuple(lines),
        tuple(sorted(infer_levels(entries) if lacks_levels else entries, key=lambda e: e.line)),
        tuple(sorted(failures, key=lambda failure: failure.first_line)),
        tuple(n for n, each in records if each is None),
        len(every) > MAX_LINES,
        lacks_levels,
    )


def read_logs(logs: Mapping[str, str]) -> list[Log]:
    """Read all logs."""
    return [read_log(name, text) for name, text in logs.items()]


def is_log(name: str, text: str) -> bool:
    """Return whether it is a log, not a page with log lines in its prose."""
    lowered = name.lower()
    if lowered.endswith(LOG_SUFFIXES):
        return True
    log = read_log(name, text)
    told = sum(bool(line.strip()) for line in log.lines)
    traced = sum(failure.last_line - failure.first_line + 1 for failure in log.failures)
    stamped = sum(bool(entry.stamp or entry.level) for entry in log.entries)
    share = (stamped + traced) / max(1, told)
    if lowered.endswith(PAGE_SUFFIXES):
        return share > MIN_PROSE_SHARE
    return bool(log.failures) or (stamped >= MIN_STAMPED_LINES and share > MIN_LOG_SHARE)


def _read_records(name: str, text: str, lines: list[str]) -> tuple[list[Record], list[str]]:
    """Return the records of a log, and its lines with the others left empty."""
    if is_table_name(name):
        return list(read_rows("\n".join(lines))), []
    is_json = name.endswith(_JSON_SUFFIXES)
    if is_json and text.startswith("["):
        found = parse_array(text)
        unread: list[Record] = [(n, None) for n in range(1, len(lines) + 1)]
        return unread if found is None else [(1, each) for each in found], []
    read = ((n, parse_object(line)) for n, line in enumerate(lines, 1))
    records = [(n, each) for n, each in read if each or (is_json and lines[n - 1].strip())]
    known = {n for n, _ in records}
    return records, ["" if n in known else line[:MAX_LINE_CHARS] for n, line in enumerate(lines, 1)]


def _lacks_levels(entries: list[LogEntry]) -> bool:
    """Return whether most entries have neither a level nor the status of a request."""
    return 2 * sum(bool(entry.level or entry.status) for entry in entries) < len(entries)
