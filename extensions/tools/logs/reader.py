"""Read logs of any usual format: lines, JSON objects, and tables of requests or metrics."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from extensions.tools.logs.entry import Log, LogEntry
from extensions.tools.logs.failure import MAX_LINE_CHARS
from extensions.tools.logs.lines import infer_levels, parse_line
from extensions.tools.logs.python_traces import find_python_failures
from extensions.tools.logs.records import (
    build_entry,
    find_record_failures,
    parse_array,
    parse_object,
    read_rows,
)
from extensions.tools.logs.stacks import find_stack_failures
from nodes.text.csv_table import is_table_name
from nodes.text.plain_text import sanitize_text

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
