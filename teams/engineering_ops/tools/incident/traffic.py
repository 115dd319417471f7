"""Count requests and errors and measure durations: over an interval, and minute by minute."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import quantiles

from nodes.tools.logs.entry import LogEntry

BUCKET_WIDTHS_S = (60, 300, 900, 3600, 6 * 3600, 86_400, 7 * 86_400, 31 * 86_400)
MAX_BUCKETS = 45
MIN_LIKELIHOOD_GAIN = 6.0
"""In log-likelihood: chance alone reaches it in about one of forty quiet logs."""


@dataclass(frozen=True)
class TrafficWindow:
    """The traffic in an interval of time."""

    started_at: datetime | None
    requests: int
    errors: int
    durations: tuple[float, ...] = ()

    @property
    def error_rate(self) -> float:
        """Return the share of errors, 0 to 1."""
        return self.errors / self.requests if self.requests else 0.0

    def compute_percentile(self, percent: int) -> float | None:
        """Interpolate linearly between the two nearest ranks; None without durations."""
        if len(self.durations) < 2:
            return next(iter(self.durations), None)
        return quantiles(self.durations, n=100, method="inclusive")[percent - 1]


def select_counted_entries(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Return the entries that count: requests if there are any, else all lines with a level."""
    return (
        [entry for entry in entries if entry.is_request]
        or [entry for entry in entries if entry.requests is not None]
        or [entry for entry in entries if entry.level]
    )


def sum_entries(entries: Iterable[LogEntry], begins: datetime | None = None) -> TrafficWindow:
    """Return the totals of entries."""
    held = list(entries)
    return TrafficWindow(
        begins,
        sum(1 if entry.requests is None else entry.requests for entry in held),
        sum(count_errors(entry) for entry in held),
        tuple(entry.duration_ms for entry in held if entry.duration_ms is not None),
    )


def count_errors(entry: LogEntry) -> int:
    """Return the number of errors that an entry reports."""
    if entry.requests is not None:
        return entry.errors or 0
    return int(entry.is_failing)


def choose_bucket_width_s(entries: Sequence[LogEntry]) -> int:
    """Return a bucket width that does not make too many buckets."""
    times = [entry.time for entry in entries if entry.time]
    span = (max(times) - min(times)).total_seconds() if times else 0.0
    return next(
        (width for width in BUCKET_WIDTHS_S if span / width < MAX_BUCKETS), BUCKET_WIDTHS_S[-1]
    )


def build_buckets(entries: Sequence[LogEntry], width: int) -> list[TrafficWindow]:
    """Return totals by intervals of so many seconds; those without entries are left out."""
    held: dict[int, list[LogEntry]] = {}
    for entry in entries:
        if entry.time:
            held.setdefault(int(entry.time.timestamp()) // width, []).append(entry)
    return [
        sum_entries(held[number], datetime.fromtimestamp(number * width, UTC))
        for number in sorted(held)
    ]


def find_error_rise(parts: Sequence[TrafficWindow]) -> TrafficWindow | None:
    """Return the bucket that begins the clearest rise of the error rate.

    It is where two constant rates, a lower before and a higher after, fit the counts best; None if
    they fit hardly better than one.
    """
    requests, errors = sum(part.requests for part in parts), sum(part.errors for part in parts)
    best, found = _compute_log_likelihood(errors, requests) + MIN_LIKELIHOOD_GAIN, None
    seen = failed = 0
    for before, part in pairwise(parts):
        seen, failed = seen + before.requests, failed + before.errors
        left, missed = requests - seen, errors - failed
        fit = _compute_log_likelihood(failed, seen) + _compute_log_likelihood(missed, left)
        if seen and left and missed / left > failed / seen and fit > best:
            best, found = fit, part
    return found


def _compute_log_likelihood(errors: int, requests: int) -> float:
    """Return the log-likelihood of so many errors at their own rate."""
    if not 0 < errors < requests:
        return 0.0
    share = errors / requests
    return errors * math.log(share) + (requests - errors) * math.log(1 - share)
