"""A log: its lines with time and level, and the failures among them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.tools.failures.failure import MAX_LINE_CHARS, Failure
from nodes.tools.failures.python_traces import python_failures
from nodes.tools.plain_text import plain
from nodes.tools.support.json_lines import failures_within, fields, json_line
from nodes.tools.support.stacks import stack_failures

MAX_LINES: Final = 200_000
MIN_STAMPED: Final = 3
MIN_SHARE: Final = 0.3
"""Of lines with a time or a level, for a text to be a log."""
MIN_PROSE_SHARE: Final = 0.5
"""The same, where the name is that of a page."""
HEAD_CHARS: Final = 160
"""Of a line, in which its time and level stand."""
MAX_BEFORE_LEVEL: Final = 20
"""Characters before the level of a line without a time."""
PAGES: Final = (".md", ".markdown", ".rst", ".html", ".htm", ".xhtml", ".pdf", ".docx")
LEVELS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("FATAL", "CRITICAL", "EMERG", "PANIC"), "critical"),
    **dict.fromkeys(("ERROR", "SEVERE"), "error"),
    **dict.fromkeys(("WARN", "WARNING"), "warning"),
    **dict.fromkeys(("INFO", "NOTICE", "DEBUG", "TRACE"), "info"),
}

_STAMP = Pattern(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
)
_PLAIN_STAMP = Pattern(r"[\w:.,+/ -]{1,40}")
"""In a field of its own, a time may be written in any way."""
_LEVEL = Pattern(
    rf"(?<![\w.])({'|'.join(LEVELS)})(?![\w.])"
    rf"|(?:level\"?[=:] ?\"?|\[|[\dZ] )({'|'.join(level.lower() for level in LEVELS)})(?=[\"\]: ,])"
)


@dataclass(frozen=True)
class Entry:
    """A line that says when, or how grave."""

    number: int
    stamp: str
    level: str
    """critical, error, warning or info; empty where it names none."""
    message: str


@dataclass(frozen=True)
class Log:
    """A log as it was read."""

    name: str
    lines: tuple[str, ...]
    entries: tuple[Entry, ...]
    failures: tuple[Failure, ...]
    is_cut: bool

    def line(self, number: int) -> str:
        """Give a line by its number, counted from 1."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    def stamp(self, number: int) -> str:
        """Give the time that holds at a line: its own, else the last before it."""
        end = bisect_right(self.entries, number, key=lambda entry: entry.number)
        return next((each.stamp for each in reversed(self.entries[:end]) if each.stamp), "")


@lru_cache(maxsize=16)
def read_log(name: str, text: str) -> Log:
    """Read a text as a log; one that is none has neither entries nor failures."""
    every = plain(text).rstrip("\n").split("\n")
    lines = tuple(line[:MAX_LINE_CHARS] for line in every[:MAX_LINES])
    objects = {n: told for n, line in enumerate(every[:MAX_LINES], 1) if (told := json_line(line))}
    plain_lines = ["" if n in objects else line for n, line in enumerate(lines, 1)]
    failures = [*python_failures(plain_lines), *stack_failures(plain_lines)]
    for number, told in objects.items():
        failures += failures_within(told, number)
    read = (
        _told(n, objects[n]) if n in objects else _entry(n, lines[n - 1])
        for n in range(1, len(lines) + 1)
    )
    entries = [entry for entry in read if entry]
    failures.sort(key=lambda failure: failure.first)
    return Log(name, lines, tuple(entries), tuple(failures), len(every) > MAX_LINES)


def is_log(name: str, text: str) -> bool:
    """Tell a log from a page, which may show a log among its prose."""
    log = read_log(name, text)
    told = sum(bool(line.strip()) for line in log.lines)
    traced = sum(failure.last - failure.first + 1 for failure in log.failures)
    share = (len(log.entries) + traced) / max(1, told)
    if name.lower().endswith(PAGES):
        return share > MIN_PROSE_SHARE
    if name.lower().endswith(".log"):
        return True
    return bool(log.failures) or (len(log.entries) >= MIN_STAMPED and share > MIN_SHARE)


def logs_of(materials: Mapping[str, str] | None) -> list[Log]:
    """Read the logs among a task's materials."""
    held = materials or {}
    return [read_log(name, text) for name, text in held.items() if is_log(name, text)]


def template(message: str) -> str:
    """Give a message without what differs from one time to the next."""
    return _VARIABLE.sub("#", message)[:300]


_VARIABLE = Pattern(
    r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\b[0-9a-f]{12,40}\b|'[^']{1,80}'|\"[^\"]{1,80}\""
    r"|\d+(?:[.,:]\d+)*"
)


def levels(log: Log) -> Counter[str]:
    """Count the lines of each level."""
    return Counter(entry.level for entry in log.entries if entry.level)


def _told(number: int, told: Mapping[str, Any]) -> Entry | None:
    stamp, level, message = fields(told)
    stamp = stamp if _PLAIN_STAMP.fullmatch(stamp) else ""
    if not (stamp or level):
        return None
    return Entry(number, stamp, LEVELS.get(level.upper(), ""), message[:MAX_LINE_CHARS])


def _entry(number: int, line: str) -> Entry | None:
    head = line[:HEAD_CHARS]
    stamp, level = _STAMP.search(head), _LEVEL.search(head)
    if stamp and stamp.start() > HEAD_CHARS // 2:
        stamp = None
    if not stamp and not (level and level.start() < MAX_BEFORE_LEVEL):
        return None
    end = max(found.end() for found in (stamp, level) if found)
    message = line[end:].strip(" \t]-:|\"',")
    grave = LEVELS[(level[1] or level[2]).upper()] if level else ""
    return Entry(number, stamp[0] if stamp else "", grave, message)
