"""The errors of a log, each kind once, with how often and when it came."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from nodes.tools.failures.failure import Failure
from nodes.tools.support.log import Entry, Log, template

MAX_APART: Final = 2
"""Lines between an entry and the failure that it announces."""


@dataclass
class Trouble:
    """Errors of one kind."""

    title: str
    level: str
    failure: Failure | None
    """The first of them, where calls are known."""
    numbers: list[int] = field(default_factory=list)
    """Lines that state it, counted from 1."""
    announced: str = ""
    """What the log said when it came first."""

    @property
    def root(self) -> str:
        """Name the error at the root of it."""
        return self.failure.chain[-1].title if self.failure else self.title


def troubles(log: Log) -> list[Trouble]:
    """Give the kinds of errors of a log in the order in which they came first."""
    found: dict[str, Trouble] = {}
    for key, number, trouble in _each(log):
        found.setdefault(key, trouble).numbers.append(number)
    return sorted(found.values(), key=lambda each: each.numbers[0])


def _each(log: Log) -> Iterator[tuple[str, int, Trouble]]:
    by_line = {entry.number: entry for entry in log.entries}
    announcing: set[int] = set()
    for failure in log.failures:
        entry = _announcement(by_line, failure)
        if entry:
            announcing.add(entry.number)
        announcing.update(range(failure.first, failure.last + 1))
        said = entry.message if entry and failure.message not in entry.message else ""
        level = entry.level if entry and entry.level == "critical" else "error"
        key = " < ".join(f"{each.error}: {template(each.message)}" for each in failure.chain)
        yield key, failure.stated, Trouble(failure.title, level, failure, announced=said)
    for entry in log.entries:
        if entry.level in ("critical", "error") and entry.number not in announcing:
            trouble = Trouble(entry.message or "an error without words", entry.level, None)
            yield template(entry.message), entry.number, trouble


def _announcement(by_line: dict[int, Entry], failure: Failure) -> Entry | None:
    """Find the entry that a failure belongs to: its own first line, or one right above it."""
    near = range(failure.first, failure.first - MAX_APART - 1, -1)
    entry = next((by_line[number] for number in near if number in by_line), None)
    return entry if entry and entry.level in ("critical", "error", "warning", "") else None
