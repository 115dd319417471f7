"""Parse a log: its lines with time and level, and the failures among them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_text
from nodes.tools.failures.failure import MAX_LINE_CHARS, Failure
from nodes.tools.failures.python_traces import find_python_failures

from .json_lines import find_failures, get_fields, parse_json_line
from .stacks import find_stack_failures

MAX_LINES: Final = 200_000
MIN_STAMPED_LINES: Final = 3
MIN_LOG_SHARE: Final = 0.3
"""Share of lines with a time or a level, for a text to be a log."""
MIN_PROSE_SHARE: Final = 0.5
"""The same, if the name is that of a page."""
HEAD_CHARS: Final = 160
"""Beginning of a line, in which its time and level are."""
MAX_BEFORE_LEVEL: Final = 20
"""Characters before the level of a line without a time."""
PAGE_SUFFIXES: Final = (".md", ".markdown", ".rst", ".html", ".htm", ".xhtml", ".pdf", ".docx")
LEVEL_BY_WORD: Final[Mapping[str, str]] = {
    **dict.fromkeys(("FATAL", "CRITICAL", "EMERG", "PANIC"), "critical"),
    **dict.fromkeys(("ERROR", "SEVERE"), "error"),
    **dict.fromkeys(("WARN", "WARNING"), "warning"),
    **dict.fromkeys(("INFO", "NOTICE", "DEBUG", "TRACE"), "info"),
}

_TIMESTAMP = Pattern(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
)
_ANY_TIMESTAMP = Pattern(r"[\w:.,+/ -]{1,40}")
"""In a field of its own, a time may have any notation."""
_LEVEL = Pattern(
    rf"(?<![\w.])({'|'.join(LEVEL_BY_WORD)})(?![\w.])"
    r"|(?:level\"?[=:] ?\"?|\[|[\dZ] "
    rf")({'|'.join(level.lower() for level in LEVEL_BY_WORD)})(?=[\"\]: ,])"
)


@dataclass(frozen=True)
class LogLine:
    """A line with a time or a level."""

    number: int
    timestamp: str
    level: str
    """critical, error, warning or info; empty if it has none."""
    message: str


@dataclass(frozen=True)
class Log:
    """A parsed log."""

    name: str
    lines: tuple[str, ...]
    entries: tuple[LogLine, ...]
    failures: tuple[Failure, ...]
    is_cut: bool

    def get_line(self, number: int) -> str:
        """Return a line by its number, counted from 1."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    def find_timestamp(self, number: int) -> str:
        """Return the time that applies at a line: its own, else the last before it."""
        end = bisect_right(self.entries, number, key=lambda entry: entry.number)
        return next((each.timestamp for each in reversed(self.entries[:end]) if each.timestamp), "")


@lru_cache(maxsize=16)
def read_log(name: str, text: str) -> Log:
    """Parse a text as a log; other texts have neither entries nor failures."""
    every = sanitize_text(text).rstrip("\n").split("\n")
    lines = tuple(line[:MAX_LINE_CHARS] for line in every[:MAX_LINES])
    objects = {
        n: told for n, line in enumerate(every[:MAX_LINES], 1) if (told := parse_json_line(line))
    }
    plain_lines = ["" if n in objects else line for n, line in enumerate(lines, 1)]
    failures = [*find_python_failures(plain_lines), *find_stack_failures(plain_lines)]
    for number, told in objects.items():
        failures += find_failures(told, number)
    read = (
        _parse_object(n, objects[n]) if n in objects else _parse_line(n, lines[n - 1])
        for n in range(1, len(lines) + 1)
    )
    entries = [entry for entry in read if entry]
    failures.sort(key=lambda failure: failure.first_line)
    return Log(name, lines, tuple(entries), tuple(failures), len(every) > MAX_LINES)


def is_log(name: str, text: str) -> bool:
    """Return whether it is a log, not a page with log lines in its prose."""
    log = read_log(name, text)
    told = sum(bool(line.strip()) for line in log.lines)
    traced = sum(failure.last_line - failure.first_line + 1 for failure in log.failures)
    share = (len(log.entries) + traced) / max(1, told)
    if name.lower().endswith(PAGE_SUFFIXES):
        return share > MIN_PROSE_SHARE
    if name.lower().endswith(".log"):
        return True
    return bool(log.failures) or (len(log.entries) >= MIN_STAMPED_LINES and share > MIN_LOG_SHARE)


def find_logs(materials: Mapping[str, str] | None) -> list[Log]:
    """Return the logs among a task's materials."""
    held = materials or {}
    return [read_log(name, text) for name, text in held.items() if is_log(name, text)]


def make_template(message: str) -> str:
    """Return a message without the parts that vary between occurrences."""
    return _VARIABLE_PART.sub("#", message)[:300]


_VARIABLE_PART = Pattern(
    r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\b[0-9a-f]{12,40}\b|'[^']{1,80}'|\"[^\"]{1,80}\""
    r"|\d+(?:[.,:]\d+)*"
)


def count_levels(log: Log) -> Counter[str]:
    """Return the number of lines of each level."""
    return Counter(entry.level for entry in log.entries if entry.level)


def _parse_object(number: int, told: Mapping[str, Any]) -> LogLine | None:
    stamp, level, message = get_fields(told)
    stamp = stamp if _ANY_TIMESTAMP.fullmatch(stamp) else ""
    if not (stamp or level):
        return None
    return LogLine(number, stamp, LEVEL_BY_WORD.get(level.upper(), ""), message[:MAX_LINE_CHARS])


def _parse_line(number: int, line: str) -> LogLine | None:
    head = line[:HEAD_CHARS]
    stamp, level = _TIMESTAMP.search(head), _LEVEL.search(head)
    if stamp and stamp.start() > HEAD_CHARS // 2:
        stamp = None
    if not stamp and not (level and level.start() < MAX_BEFORE_LEVEL):
        return None
    end = max(found.end() for found in (stamp, level) if found)
    message = line[end:].strip(" \t]-:|\"',")
    grave = LEVEL_BY_WORD[(level[1] or level[2]).upper()] if level else ""
    return LogLine(number, stamp[0] if stamp else "", grave, message)
