"""Parse a line of a log: its time, its level and its message.

Formats of times are listed rather than guessed: a parser that guesses takes `12` for a day.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal

from extensions.tools.logs.failures import NAMES, Failure
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count

YEARLESS: Final = 1904
"""The year of a time that is logged without one; a leap year."""

TIMESTAMP: Final = Pattern(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4}\b)?"
    r"|\d\d/\d\d/\d\d \d\d:\d\d:\d\d"
    r"|^\d{6} \d{6}\b|^\[?1\d{9}(?:\.\d{1,9}|\d{3})?(?=[\] ])"
)
_EPOCH = Pattern(r"1\d{9}(?:\d{3})?(?:\.\d+)?")
_FORMATS: Final = (
    "%d/%b/%Y:%H:%M:%S %z",
    "%d/%b/%Y:%H:%M:%S",
    "%b %d %H:%M:%S %Y",
    "%y%m%d %H%M%S",
    "%y/%m/%d %H:%M:%S",
    "%b %d %H:%M:%S",
)


@lru_cache(maxsize=4096)
def parse_time(text: str) -> datetime | None:
    """Parse a time; one without a zone is UTC, a bare number is seconds since 1970."""
    text = text.strip().strip("[]")
    if _EPOCH.fullmatch(text):
        seconds = float(text) / (1000 if len(text.split(".")[0]) == 13 else 1)
        return datetime.fromtimestamp(seconds, UTC)
    for form in ("ISO", *_FORMATS):
        try:
            found = _parse_iso(text) if form == "ISO" else _parse_as(text, form)
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            continue
    return None


def _parse_iso(text: str) -> datetime:
    if len(text) < len("2026-01-31") or not text[:4].isdigit():
        raise ValueError("no date")
    return datetime.fromisoformat(text[:10].replace("/", "-") + text[10:].replace(",", "."))


def _parse_as(text: str, form: str) -> datetime:
    """Parse a time in a form; the year of one that has none is `YEARLESS`."""
    is_dated = "%y" in form.lower()
    return datetime.strptime(
        text if is_dated else f"{YEARLESS} {text}", form if is_dated else f"%Y {form}"
    )


def format_time(when: datetime) -> str:
    """Return a time to the second, with its date; without a year if the log has none."""
    return when.strftime("%b %d %H:%M:%S" if when.year == YEARLESS else "%Y-%m-%d %H:%M:%S UTC")


def format_duration(seconds: float) -> str:
    """Return a duration in hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "under 1 s"


Level = Literal["", "debug", "info", "warning", "error", "critical"]
FAILING_LEVELS: tuple[Level, ...] = ("error", "critical")


@dataclass(frozen=True)
class LogEntry:
    """A line of a log with a time or a level, or a row of a table of metrics."""

    source: str
    line: int
    time: datetime | None = None
    stamp: str = ""
    """The time as the log writes it."""
    level: Level = ""
    message: str = ""
    status: int | None = None
    duration_ms: float | None = None
    version: str = ""
    service: str = ""
    requests: int | None = None
    """How many requests a row of metrics represents."""
    errors: int | None = None

    @property
    def is_request(self) -> bool:
        """Return whether the service answered a request, with or without an error."""
        return self.status is not None

    @property
    def is_failing(self) -> bool:
        """Return whether the entry reports an error of the service."""
        return self.status >= 500 if self.status is not None else self.level in FAILING_LEVELS

    @property
    def error_count(self) -> int:
        """Return the number of errors that the entry reports."""
        return int(self.is_failing) if self.requests is None else self.errors or 0


@dataclass(frozen=True)
class Log:
    """A parsed log."""

    name: str
    lines: tuple[str, ...]
    entries: tuple[LogEntry, ...]
    failures: tuple[Failure, ...]
    unread_lines: tuple[int, ...] = ()
    is_cut: bool = False
    is_level_inferred: bool = False
    """Whether the log names no levels, so that errors were recognized by their words."""

    def get_line(self, number: int) -> str:
        """Return a line by its number, counted from 1."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    def find_dated_entry(self, number: int) -> LogEntry | None:
        """Return the entry whose time applies at a line: its own, else the last before it."""
        end = bisect_right(self.entries, number, key=lambda entry: entry.line)
        return next((entry for entry in reversed(self.entries[:end]) if entry.stamp), None)

    def find_stamp(self, number: int) -> str:
        """Return the time that applies at a line, as the log writes it."""
        entry = self.find_dated_entry(number)
        return entry.stamp if entry else ""

    def describe_limits(self) -> tuple[list[str], list[str]]:
        """Return what was not read or not stated, as gaps, and what was cut, as failures."""
        gaps = []
        if bad := self.unread_lines:
            said = f"{self.name}: {format_count(len(bad), 'line')} could not be read"
            gaps.append(f"{said}, the first is line {bad[0]}.")
        if self.is_level_inferred:
            gaps.append(
                f"{self.name} names no levels: lines with words such as failed or error are "
                "counted as errors."
            )
        cut = [f"only the first {len(self.lines):,} lines of {self.name} were read"]
        return gaps, cut * self.is_cut


HEAD_CHARS: Final = 160
"""Beginning of a line, in which its time and level are."""
_LEVEL_BY_WORD: Final[Mapping[str, Level]] = {
    word: level for level, words in NAMES["levels"].items() for word in words
}
_LEVEL = Pattern(
    rf"(?<![\w.])({'|'.join(_LEVEL_BY_WORD)})(?![\w.])"
    r"|(?:level\"?[=:] ?\"?|\[|[\dZ] "
    rf")({'|'.join(word.lower() for word in _LEVEL_BY_WORD)})(?=[\"\]: ,])"
)
_ACCESS_STATUS = Pattern(r"\" ([1-5]\d\d) (?:\d+|-)(?= |$)")
"""The status in a line of a web server's access log."""
_FAILURE_WORD = Pattern(
    r"\b(?:fail(?:ed|ure|ures|s|ing)?|errors?|fatal|panic|denied|refused|abnormally"
    r"|timed out|unable to|cannot|segfault|corrupt(?:ed)?)\b",
    re.IGNORECASE,
)
_NO_FAILURE = Pattern(r"\b(?:no|0|without) (?:errors?|failures?)\b", re.IGNORECASE)

_VARIABLE_PART = Pattern(
    r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\b[0-9a-f]{12,40}\b|'[^']{1,80}'|\"[^\"]{1,80}\""
    r"|(?<=\w=)[^\s;,]+|\([^\s()]{1,80}\)|(?:(?<![^\W_])-)?\d+(?:[.,:]\d+)*"
)


def get_level(word: str) -> Level:
    """Return the level that a word names; empty if it names none."""
    return _LEVEL_BY_WORD.get(word.upper(), "")


def parse_line(source: str, number: int, line: str) -> LogEntry | None:
    """Parse a line; None if it has neither a time nor a level."""
    head = line[:HEAD_CHARS]
    stamp, level = TIMESTAMP.search(head), _LEVEL.search(head)
    if stamp and (stamp.start() > HEAD_CHARS // 2 or not parse_time(stamp[0])):
        stamp = None
    if not stamp and not (level and _is_prefix(head[: level.start()])):
        return None
    end = max(found.end() for found in (stamp, level) if found)
    status = _ACCESS_STATUS.search(line) if '" ' in line else None
    return LogEntry(
        source,
        number,
        parse_time(stamp[0]) if stamp else None,
        stamp[0].lstrip("[") if stamp else "",
        get_level(level[1] or level[2]) if level else "",
        line[end:].strip(" \t]-:|\"',"),
        int(status[1]) if status else None,
    )


def make_template(message: str) -> str:
    """Return a message without the parts that vary between occurrences."""
    return _VARIABLE_PART.sub("#", message)[:300]


def infer_levels(entries: Sequence[LogEntry]) -> tuple[LogEntry, ...]:
    """Return the entries of a log without levels, with levels by the words of their messages."""
    return tuple(
        replace(entry, level="error" if _reports_failure(entry.message) else "info")
        if not entry.level and entry.status is None
        else entry
        for entry in entries
    )


def _is_prefix(text: str) -> bool:
    """Return whether a text before a level is a prefix such as `12 [main] api-1 |`, not prose."""
    return sum(word.isalpha() for word in text.split()) <= 1


def _reports_failure(message: str) -> bool:
    return bool(_FAILURE_WORD.search(message)) and not _NO_FAILURE.search(message)
