"""All statistics of a set of logs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from .changes import LoggedChange, find_changes, find_last_before
from .errors import InsufficientMaterials
from .logs import LogEntry
from .traffic import (
    TrafficWindow,
    build_buckets,
    choose_bucket_width_s,
    count_errors,
    find_error_rise,
    select_counted_entries,
    sum_entries,
)


@dataclass(frozen=True)
class LogStatistics:
    """All statistics of a set of logs."""

    counted_entries: list[LogEntry]
    unit: str
    total: TrafficWindow
    bucket_width_s: int
    buckets: list[TrafficWindow]
    failing_entries: list[LogEntry]
    error_messages: list[tuple[LogEntry, int]]
    """Messages logged with errors, and how often; the most frequent first."""
    changes: list[LoggedChange]

    @property
    def peak(self) -> TrafficWindow:
        """Return the bucket with the highest error rate; of equal ones the one with more errors."""
        return max(self.buckets, key=lambda one: (one.error_rate, one.errors))

    @cached_property
    def onset(self) -> TrafficWindow | None:
        """Return the bucket at which errors rose most clearly; None if there is no clear rise."""
        return find_error_rise(self.buckets)

    @property
    def source(self) -> str:
        """Return the file with most of the entries."""
        ((name, _),) = Counter(entry.source for entry in self.counted_entries).most_common(1)
        return name

    @property
    def suspected_change(self) -> LoggedChange | None:
        """Return the last change before the errors rose."""
        if self.onset is None or self.onset.started_at is None:
            return None
        return find_last_before(
            self.changes, self.onset.started_at + timedelta(seconds=self.bucket_width_s)
        )

    def split_at_change(self, change: LoggedChange) -> tuple[TrafficWindow, TrafficWindow]:
        """Return the totals before and after a change."""
        before = [
            entry for entry in self.counted_entries if entry.time and entry.time < change.time
        ]
        after = [
            entry for entry in self.counted_entries if entry.time and entry.time >= change.time
        ]
        return sum_entries(before), sum_entries(after)


def compute_statistics(entries: Sequence[LogEntry]) -> LogStatistics:
    """Compute everything from the entries of one or several logs.

    Raises:
        InsufficientMaterials: nothing with a time can be counted.
    """
    chosen = select_counted_entries(entries)
    if not chosen:
        raise InsufficientMaterials(
            "no log with times was given: a CSV or JSON-lines file with a column such as time and "
            "one of status, level, or requests and errors is needed"
        )
    width = choose_bucket_width_s(chosen)
    is_lines = not (chosen[0].is_request or chosen[0].requests is not None)
    return LogStatistics(
        chosen,
        "log line" if is_lines else "request",
        sum_entries(chosen, chosen[0].time),
        width,
        build_buckets(chosen, width),
        [entry for entry in chosen if count_errors(entry)],
        _count_messages(entries),
        find_changes(entries),
    )


def _count_messages(entries: Sequence[LogEntry]) -> list[tuple[LogEntry, int]]:
    held: dict[str, list[LogEntry]] = {}
    for entry in entries:
        if entry.is_failing and entry.message:
            held.setdefault(entry.message, []).append(entry)
    counts = [(same[0], len(same)) for same in held.values()]
    return sorted(counts, key=lambda one: -one[1])
