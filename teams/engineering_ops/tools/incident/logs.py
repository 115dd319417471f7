"""Read log lines and rows of metrics, whatever their format, as entries of one kind."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_text

from .timestamps import parse_time, split_timestamp

FAILING_LEVELS = frozenset({"error", "err", "critical", "fatal", "alert", "emergency"})
_COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "time": ("time", "timestamp", "ts", "datetime", "date", "minute", "at", "asctime"),
    "level": ("level", "severity", "loglevel", "levelname", "log_level"),
    "status": ("status", "status_code", "http_status", "response_status"),
    "duration": ("duration_ms", "latency_ms", "elapsed_ms", "took_ms", "response_time_ms"),
    "duration_s": ("duration_s", "latency_s", "elapsed_s", "response_time_s", "duration_seconds"),
    "bare_duration": ("duration", "latency", "elapsed", "response_time"),
    "message": ("message", "msg", "event", "error", "text", "change", "description"),
    "trace": ("exception", "traceback", "stack", "stack_trace", "stacktrace", "exc_info"),
    "version": ("version", "release", "build"),
    "service": ("service", "app", "application", "component", "logger"),
    "requests": ("requests", "request_count", "hits"),
    "errors": ("errors", "error_count", "failures", "failed"),
}
_LEVEL = Pattern(r"\b(DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_TABLE_SUFFIXES = (".csv", ".tsv")


@dataclass(frozen=True)
class LogEntry:
    """One line of a log, or one row of a table of metrics."""

    source: str
    line: int
    time: datetime | None
    level: str = ""
    status: int | None = None
    duration_ms: float | None = None
    message: str = ""
    trace: str = ""
    version: str = ""
    service: str = ""
    requests: int | None = None
    """How many requests a row of metrics represents."""
    errors: int | None = None

    @property
    def is_request(self) -> bool:
        """Return whether this service answered a request, with or without an error."""
        return self.status is not None

    @property
    def is_failing(self) -> bool:
        """Return whether the entry reports a server error."""
        return self.status >= 500 if self.status is not None else self.level in FAILING_LEVELS


@dataclass
class LogContents:
    """The entries of a log, and what of it could not be read."""

    entries: list[LogEntry] = field(default_factory=list)
    bad_lines: list[int] = field(default_factory=list)


def read_log(name: str, text: str) -> LogContents:
    """Read a log; lines that fit no format are counted, not guessed at."""
    suffix, text = PurePosixPath(name.lower()).suffix, sanitize_text(text)
    if suffix in _TABLE_SUFFIXES:
        return _read_table(name, text)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if suffix in _JSON_SUFFIXES or first.lstrip().startswith("{"):
        return _read_objects(name, text)
    return _read_lines(name, text)


def _read_table(name: str, text: str) -> LogContents:
    lines = text.split("\n")
    first = next((n for n, row in enumerate(lines) if row.strip() and row[0] != "#"), 0)
    delimiter = "\t" if "\t" in lines[first] else max(",;", key=lines[first].count)
    rows = csv.reader(io.StringIO("\n".join(lines[first:])), delimiter=delimiter)
    read, columns = LogContents(), list[str]()
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return read
        except csv.Error:
            read.bad_lines.append(first + rows.line_num)
            continue
        if not columns:
            columns = [cell.strip() for cell in cells]
        elif any(cells):
            values = dict(zip(columns, cells, strict=False))
            read.entries.append(_build_entry(name, first + rows.line_num, values))


def _read_objects(name: str, text: str) -> LogContents:
    read = LogContents()
    if text.lstrip().startswith("["):
        found = _parse_json(text)
        if not isinstance(found, list):
            read.bad_lines = list(range(1, len(text.splitlines()) + 1))
            return read
        for number, one in enumerate(found, 1):
            if isinstance(one, dict):
                read.entries.append(_build_entry(name, number, one))
            else:
                read.bad_lines.append(number)
        return read
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        found = _parse_json(line)
        if isinstance(found, dict):
            read.entries.append(_build_entry(name, number, found))
        else:
            read.bad_lines.append(number)
    return read


def _parse_json(text: str) -> object:
    try:
        loaded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return loaded


def _read_lines(name: str, text: str) -> LogContents:
    """Read lines that begin with a time; a line without a time belongs to the one before."""
    read, held = LogContents(), list[tuple[int, datetime | None, list[str]]]()
    for number, line in enumerate(text.splitlines(), 1):
        time, rest = split_timestamp(line)
        if time or not held:
            held.append((number, time, [rest]))
        else:
            held[-1][2].append(line)
    for number, time, parts in held:
        first, *more = parts
        level = found[1].lower() if (found := _LEVEL.search(first)) else ""
        trace = "\n".join(more if time else parts).strip()
        read.entries.append(LogEntry(name, number, time, level, message=first.strip(), trace=trace))
    return read


def _build_entry(name: str, line: int, values: Mapping[str, object]) -> LogEntry:
    known = {key: _find_value(values, names) for key, names in _COLUMN_NAMES.items()}
    seconds = _parse_number(known["duration_s"])
    plain_ms = _parse_number(known["duration"]) or _parse_number(known["bare_duration"])
    status = _parse_number(known["status"])
    return LogEntry(
        name,
        line,
        parse_time(known["time"]),
        known["level"].lower(),
        int(status) if status is not None and 100 <= status < 600 else None,
        seconds * 1000 if seconds is not None else plain_ms,
        known["message"],
        known["trace"] or known["message"] * ("Traceback (most recent" in known["message"]),
        known["version"],
        known["service"],
        _parse_count(known["requests"]),
        _parse_count(known["errors"]),
    )


def _find_value(values: Mapping[str, object], names: tuple[str, ...]) -> str:
    folded = {str(key).strip().lower().lstrip("@"): value for key, value in values.items()}
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


def read_logs(logs: Mapping[str, str]) -> tuple[list[LogEntry], list[str]]:
    """Read all logs, sorted by time where it is known; gaps name what was not read."""
    read = {name: read_log(name, text) for name, text in logs.items()}
    gaps = [gap for name, one in read.items() for gap in describe_unread_lines(name, one)]
    entries = list(chain.from_iterable(one.entries for one in read.values()))
    return list(_sort_by_time(entries)), gaps


def describe_unread_lines(name: str, read: LogContents) -> list[str]:
    """Return how many lines of a log could not be read, in words; empty if all could."""
    bad = read.bad_lines
    said = f"{name}: {format_count(len(bad), 'line')} could not be read"
    return [f"{said}, the first is line {bad[0]}."] if bad else []


def _sort_by_time(entries: list[LogEntry]) -> Iterator[LogEntry]:
    dated = [entry for entry in entries if entry.time]
    yield from sorted(dated, key=lambda entry: (entry.time, entry.source, entry.line))
    yield from (entry for entry in entries if not entry.time)
