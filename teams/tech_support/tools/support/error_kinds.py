"""List the errors and warnings of a log, each kind once, with how often and when it occurred."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from extensions.tools.logs.entry import FAILING_LEVELS, Log, LogEntry
from extensions.tools.logs.failure import Failure, StackFrame
from extensions.tools.logs.lines import make_template
from extensions.tools.logs.secrets import mask_secrets
from nodes.text.plain_text import format_as_code, sanitize_line

MAX_TITLE_CHARS: Final = 240
MAX_ANNOUNCEMENT_LINES: Final = 2
"""Lines between an entry and the failure that it announces."""


@dataclass
class ErrorKind:
    """Errors, or warnings, of one kind."""

    title: str
    level: str
    failure: Failure | None
    """The first of them, if its calls are known."""
    line_numbers: list[int] = field(default_factory=list)
    """Lines that report it, counted from 1."""
    announcement: str = ""
    """The log's message about the first one."""

    @property
    def root_title(self) -> str:
        """Return the name of the root error."""
        return self.failure.chain[-1].title if self.failure else self.title

    @property
    def own_frame(self) -> StackFrame | None:
        """Return the product's own call nearest to the root, if it is known."""
        return self.failure.own_frame if self.failure else None

    @property
    def line(self) -> int:
        """Return the first line that reports it."""
        return self.line_numbers[0]

    @property
    def times(self) -> str:
        """Return how often it is reported, as an addition; empty for once."""
        return f", {len(self.line_numbers)} times" if len(self.line_numbers) > 1 else ""


_Occurrence = tuple[str, int, ErrorKind]
"""What occurrences of one kind share, the line of one, and its kind."""


def list_error_kinds(log: Log) -> list[ErrorKind]:
    """Return the kinds of errors of a log, in order of first occurrence."""
    return sorted(_group_by_kind(_iterate_errors(log)), key=lambda each: each.line_numbers[0])


def list_warning_kinds(log: Log) -> list[ErrorKind]:
    """Return the kinds of warnings of a log, the most frequent first."""
    warned = (_build_kind(entry) for entry in log.entries if entry.level == "warning")
    return sorted(_group_by_kind(warned), key=lambda each: -len(each.line_numbers))


def redact_line(text: str) -> str:
    """Return words of a log as one line of a report: of limited length, without a secret."""
    return sanitize_line(mask_secrets(text), MAX_TITLE_CHARS)


def redact_as_code(text: str) -> str:
    """Return words of a log as code, so that no link or picture in them becomes active."""
    return format_as_code(redact_line(text))


def _group_by_kind(found: Iterable[_Occurrence]) -> Iterable[ErrorKind]:
    kinds: dict[str, ErrorKind] = {}
    for key, number, trouble in found:
        kinds.setdefault(key, trouble).line_numbers.append(number)
    return kinds.values()


def _build_kind(entry: LogEntry) -> _Occurrence:
    kind = ErrorKind(entry.message or f"{entry.level} without words", entry.level, None)
    return make_template(entry.message), entry.line, kind


def _iterate_errors(log: Log) -> Iterator[_Occurrence]:
    by_line = {entry.line: entry for entry in log.entries}
    announcing: set[int] = set()
    for failure in log.failures:
        entry = _find_announcement(by_line, failure)
        if entry:
            announcing.add(entry.line)
        announcing.update(range(failure.first_line, failure.last_line + 1))
        said = entry.message if entry and failure.message not in entry.message else ""
        level = entry.level if entry and entry.level == "critical" else "error"
        key = " < ".join(f"{each.error}: {make_template(each.message)}" for each in failure.chain)
        yield key, failure.error_line, ErrorKind(failure.title, level, failure, announcement=said)
    for entry in log.entries:
        if entry.level in FAILING_LEVELS and entry.line not in announcing:
            yield _build_kind(entry)


def _find_announcement(by_line: dict[int, LogEntry], failure: Failure) -> LogEntry | None:
    """Return the entry that a failure belongs to: its own first line, or one directly above it."""
    near = range(failure.first_line, failure.first_line - MAX_ANNOUNCEMENT_LINES - 1, -1)
    entry = next((by_line[number] for number in near if number in by_line), None)
    return entry if entry and entry.level not in ("info", "debug") else None
