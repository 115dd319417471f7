"""Types for what a log contains: entries, and the failures among its lines."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from extensions.tools.logs.failure import Failure
from nodes.text.counts import format_count

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
