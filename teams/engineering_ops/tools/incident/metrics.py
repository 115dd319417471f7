"""Report the metrics of an incident: rates, percentiles, first error, and last change before it."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from statistics import quantiles
from typing import Any, NamedTuple

from extensions.tools.logs.entries import YEARLESS, LogEntry, format_time, make_template
from extensions.tools.logs.reader import read_logs
from extensions.tools.logs.secrets import mask_secrets
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport

from .sources import sort_materials

_CHANGE_WORDS = Pattern(
    r"\bdeploy(?:ed|ment|ing)?\b|\breleas(?:e|ed|ing) (?:of |(?:\S+ )?v?\d)"
    r"|\brolled (?:out|back)\b|\brollout\b"
    r"|\bconfig(?:uration)? (?:changed?|applied|reload(?:ed)?|updated?)\b"
    r"|\bfeature flag\b",
    re.IGNORECASE,
)
MAX_DESCRIPTION_CHARS = 120


class LoggedChange(NamedTuple):
    """A deployment or another change."""

    time: datetime
    description: str
    source: str
    line: int


def find_changes(entries: Sequence[LogEntry]) -> list[LoggedChange]:
    """Return the reported changes; else the first request that a new version answers."""
    dated = [(entry.time, entry) for entry in entries if entry.time]
    told = [
        LoggedChange(time, _describe_change(entry), entry.source, entry.line)
        for time, entry in dated
        if _is_change(entry)
    ]
    return told or list(_find_new_versions(dated))


def _is_change(entry: LogEntry) -> bool:
    """Distinguish a row of a list of changes, or a line about one, from a request or an error."""
    if entry.is_request or entry.is_failing or entry.requests is not None:
        return False
    return bool(_CHANGE_WORDS.search(entry.message)) or bool(entry.version and not entry.level)


def _describe_change(entry: LogEntry) -> str:
    is_named = entry.message and entry.service in entry.message
    text = entry.message or "deployment"
    words = text if is_named else f"{text} {entry.service} {entry.version}"
    return sanitize_line(mask_secrets(words), MAX_DESCRIPTION_CHARS)


def _find_new_versions(dated: Sequence[tuple[datetime, LogEntry]]) -> Iterator[LoggedChange]:
    known: dict[str, set[str]] = {}
    for time, entry in dated:
        versions = known.setdefault(entry.service, set())
        if entry.version and versions and entry.version not in versions:
            words = sanitize_line(f"first request by {entry.service} {entry.version}", 120)
            yield LoggedChange(time, words, entry.source, entry.line)
        versions.update(filter(None, [entry.version]))


DAY_S = 86_400
BUCKET_NAMES = {
    60: "minute",
    300: "5 minutes",
    900: "15 minutes",
    3600: "hour",
    6 * 3600: "6 hours",
    DAY_S: "day",
    7 * DAY_S: "week",
    31 * DAY_S: "31 days",
}
"""Widths of the buckets in seconds, and how they are called."""
MAX_BUCKETS = 45
MIN_LIKELIHOOD_GAIN = 6.0
"""In log-likelihood: chance alone reaches it in about one of forty quiet logs."""
NO_TIMES = (
    "no log with times was given: a CSV or JSON-lines file with a column such as time and one of "
    "status, level, or requests and errors is needed"
)


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

    @property
    def error_percent(self) -> str:
        """Return the share of errors in words."""
        return f"{100 * self.error_rate:.2f} percent" if self.requests else "no requests"

    def format_percentile(self, percent: int) -> str:
        """Return a percentile of the durations in ms, between the two nearest ranks; or nothing."""
        if len(self.durations) < 2:
            value = next(iter(self.durations), None)
        else:
            value = quantiles(self.durations, n=100, method="inclusive")[percent - 1]
        return "" if value is None else f"{value:,.{int(value < 10)}f}"


class Traffic:
    """The entries of logs that are counted, in buckets of time."""

    def __init__(self, dated: Sequence[LogEntry]) -> None:
        """Count requests if there are any, else lines with a level.

        Raises:
            ToolRefused: there are neither.
        """
        entries = (
            [entry for entry in dated if entry.is_request]
            or [entry for entry in dated if entry.requests is not None]
            or [entry for entry in dated if entry.level]
        )
        if not entries:
            raise ToolRefused(NO_TIMES)
        self.entries = [(entry.time, entry) for entry in entries if entry.time]
        self.first, self.last = self.entries[0][0], self.entries[-1][0]
        span = (self.last - self.first).total_seconds()
        fitting = (width for width in BUCKET_NAMES if span / width < MAX_BUCKETS)
        self.width_s = next(fitting, max(BUCKET_NAMES))
        self.total = sum_entries(entries)
        self.source = Counter(entry.source for entry in entries).most_common(1)[0][0]
        """The file with most of the entries."""
        is_requests = entries[0].is_request or entries[0].requests is not None
        self.unit = "request" if is_requests else "log line"

    @cached_property
    def buckets(self) -> list[TrafficWindow]:
        """Return totals by intervals of time; those without entries are left out."""
        held: dict[int, list[LogEntry]] = {}
        for time, entry in self.entries:
            held.setdefault(int(time.timestamp()) // self.width_s, []).append(entry)
        return [
            sum_entries(held[number], datetime.fromtimestamp(number * self.width_s, UTC))
            for number in sorted(held)
        ]

    def split_at(self, moment: datetime) -> tuple[TrafficWindow, TrafficWindow]:
        """Return the totals before and after a time."""
        before = [entry for time, entry in self.entries if time < moment]
        return sum_entries(before), sum_entries([e for time, e in self.entries if time >= moment])

    def count(self, number: int) -> str:
        """Return a number of what is counted."""
        return format_count(number, self.unit)

    def format_start(self, bucket: TrafficWindow) -> str:
        """Return when a bucket begins: with its date, unless all are on one day."""
        at = bucket.started_at or self.first
        date = at.strftime("%b %d" if at.year == YEARLESS else "%Y-%m-%d")
        if self.width_s >= DAY_S:
            return date
        return f"{at:%H:%M}" if self.first.date() == self.last.date() else f"{date} {at:%H:%M}"


def sum_entries(entries: Iterable[LogEntry], begins: datetime | None = None) -> TrafficWindow:
    """Return the totals of entries."""
    held = list(entries)
    return TrafficWindow(
        begins,
        sum(1 if entry.requests is None else entry.requests for entry in held),
        sum(entry.error_count for entry in held),
        tuple(entry.duration_ms for entry in held if entry.duration_ms is not None),
    )


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


MAX_MESSAGE_CHARS, MAX_MESSAGES, MAX_ROWS = 160, 3, 16
MIN_RISE_FACTOR = 3.0
"""Factor between the error rates before and after a change, for it to be called a rise."""
CAUSE_CAVEAT = (
    "That errors follow a change in time does not show that the change caused them; the code and "
    "the configuration have to show it."
)


def compute_metrics(materials: dict[str, str]) -> dict[str, Any]:
    """Compute requests, error rate and percentiles of duration by time, and the first error.

    All logs among the files are read: CSV, JSON lines, or lines with times. Errors are statuses
    from 500, else lines of level ERROR and above. The metrics before and after the last deployment
    before the errors are compared. Example: log_metrics()

    Raises:
        ToolRefused: there is no log, or none with times.
    """
    reply, entries = ToolReport(), list[LogEntry]()
    for log in read_logs(sort_materials(materials)["logs"]):
        gaps, cut = log.describe_limits()
        reply.gaps += gaps
        reply.failures += cut
        entries += log.entries
    undated = [e for e in entries if not e.time and (e.is_request or e.requests or e.level)]
    if undated:
        said = format_count(len(undated), "entry", "entries")
        reply.gaps.append(f"Not counted, as their time cannot be read: {said}.")
    keyed = sorted((e.time, e.source, e.line, n) for n, e in enumerate(entries) if e.time)
    dated = [entries[n] for *_, n in keyed]
    traffic = Traffic(dated)
    text = (
        f"{traffic.count(traffic.total.requests)} from {format_time(traffic.first)} to "
        f"{format_time(traffic.last)}, {traffic.total.errors:,} of them errors "
        f"({traffic.total.error_percent})."
    )
    reply.lines.append(f"**{text}**")
    reply.add_claim(text, traffic.source)
    peak = max(traffic.buckets, key=lambda one: (one.error_rate, one.errors))
    rise, change = find_error_rise(traffic.buckets), None
    if traffic.total.errors:
        _add_errors(traffic, peak, rise, dated, reply)
    else:
        reply.lines.append("No error is logged in this time.")
    if rise:
        change = _add_change(traffic, rise, dated, reply)
    _add_durations(traffic, change, reply)
    _add_buckets(traffic, traffic.buckets.index(rise or peak), reply)
    return reply.to_json()


def _add_errors(
    traffic: Traffic,
    peak: TrafficWindow,
    rise: TrafficWindow | None,
    dated: Sequence[LogEntry],
    reply: ToolReport,
) -> None:
    time, first = next((time, entry) for time, entry in traffic.entries if entry.error_count)
    text = f"The first error is logged at {format_time(time)} (line {first.line})."
    _add_statement(reply, text, first.source, sanitize_line(first.message, MAX_MESSAGE_CHARS))
    width = BUCKET_NAMES[traffic.width_s]
    text = (
        f"The error rate was highest in the {width} from {traffic.format_start(peak)}: "
        f"{peak.errors:,} of {peak.requests:,} ({peak.error_percent})."
    )
    _add_statement(reply, text, traffic.source)
    if rise:
        text = f"Errors rose most clearly in the {width} from {traffic.format_start(rise)}."
        _add_statement(reply, text, traffic.source)
    else:
        reply.lines.append("- No rise of the error rate is distinguishable from chance.")
    failing = [entry for entry in dated if entry.is_failing and entry.message]
    kinds = {make_template(entry.message): entry for entry in reversed(failing)}
    counts = Counter(make_template(entry.message) for entry in failing)
    for kind, number in counts.most_common(MAX_MESSAGES):
        words = sanitize_line(kinds[kind].message, MAX_MESSAGE_CHARS)
        text = f"{format_count(number, 'error')} logged: {format_as_code(mask_secrets(words))}"
        _add_statement(reply, text, kinds[kind].source, words)


def _add_change(
    traffic: Traffic, rise: TrafficWindow, dated: Sequence[LogEntry], reply: ToolReport
) -> LoggedChange | None:
    """Add the last change before the errors rose, if one is known."""
    changes, start = find_changes(dated), rise.started_at or traffic.first
    end = start + timedelta(seconds=traffic.width_s)
    earlier = [change for change in changes if change.time <= end]
    if not earlier:
        why = "all of them came later" if changes else "none is reported in the files"
        reply.gaps.append(f"No deployment or other change before the rise is known: {why}.")
        return None
    change = max(earlier, key=lambda each: each.time)
    (before, after), name = traffic.split_at(change.time), format_as_code(change.description)
    when = format_time(change.time)
    text = (
        f"Before the change at {when} ({name}): {before.errors:,} errors in "
        f"{traffic.count(before.requests)} ({before.error_percent}); after it: "
        f"{after.errors:,} in {traffic.count(after.requests)} ({after.error_percent})."
    )
    failing = (time for time, entry in traffic.entries if entry.error_count)
    if later := next((time for time in failing if time >= change.time), None):
        # From the rounded times shown, so that a reader who subtracts gets the same.
        waited = later.replace(microsecond=0) - change.time.replace(microsecond=0)
        text += f" The first of these came {waited.total_seconds():,.0f} s after the change."
    _add_statement(reply, text, traffic.source)
    reply.add_claim(f"{name} at {when} (line {change.line}).", change.source)
    if before.requests and after.error_rate > max(MIN_RISE_FACTOR * before.error_rate, 0.005):
        text = f"Errors rose from {before.error_percent} to {after.error_percent} after {name}"
        reply.add_finding("high", f"{text} at {when}.", change.source, line=change.line)
    reply.gaps.append(CAUSE_CAVEAT)
    return change


def _add_durations(traffic: Traffic, change: LoggedChange | None, reply: ToolReport) -> None:
    if not traffic.total.durations:
        reply.gaps.append("Percentiles of duration: no durations are logged.")
        return
    # In one claim: two that differ only in a period look like a contradiction.
    told = _format_percentiles(traffic.total)
    if change:
        before, after = map(_format_percentiles, traffic.split_at(change.time))
        told += f"; before the change {before}; after it {after}"
    _add_statement(reply, f"Durations: {told}.", traffic.source)


def _format_percentiles(part: TrafficWindow) -> str:
    named = (f"p{n} {part.format_percentile(n)} ms" for n in (50, 95, 99))
    return ", ".join(named) if part.durations else "not known"


def _add_statement(reply: ToolReport, text: str, source: str, quote: str = "") -> None:
    reply.lines.append(f"- {text}")
    reply.add_claim(text, source, quote if mask_secrets(quote) == quote else "")


def _add_buckets(traffic: Traffic, centre: int, reply: ToolReport) -> None:
    """Add the table of buckets around the rise of errors."""
    at = max(0, min(centre - MAX_ROWS // 3, len(traffic.buckets) - MAX_ROWS))
    rows = [
        (
            traffic.format_start(one),
            f"{one.requests:,}",
            f"{one.errors:,}",
            one.error_percent,
            one.format_percentile(95),
        )
        for one in traffic.buckets[at : at + MAX_ROWS]
    ]
    reply.lines.append("")
    reply.add_table(("from", f"{traffic.unit}s", "errors", "error rate", "p95 ms"), rows)
    if left := len(traffic.buckets) - len(rows):
        reply.lines.append(f"{left} more rows, before and after, are left out.")
