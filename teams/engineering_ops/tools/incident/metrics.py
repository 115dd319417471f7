"""Report the metrics of an incident: rates, percentiles, first error, and last change before it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport, fit_to_size
from nodes.tools.logs.entry import LogEntry
from nodes.tools.logs.lines import make_template
from nodes.tools.logs.reader import read_logs
from nodes.tools.logs.secrets import mask_secrets
from nodes.tools.logs.timestamps import YEARLESS, format_time

from .changes import LoggedChange, find_changes, find_last_before
from .material_types import sort_materials
from .traffic import (
    TrafficWindow,
    build_buckets,
    choose_bucket_width_s,
    count_errors,
    find_error_rise,
    select_counted_entries,
    sum_entries,
)

MAX_MESSAGE_CHARS, MAX_MESSAGES = 160, 3
DAY_S = 86_400
MIN_RISE_FACTOR = 3.0
"""Factor between the error rates before and after a change, for it to be called a rise."""
SHOWN_COUNTS = (16, 8)
NO_TIMES = (
    "no log with times was given: a CSV or JSON-lines file with a column such as time and one of "
    "status, level, or requests and errors is needed"
)
CAUSE_CAVEAT = (
    "That errors follow a change in time does not show that the change caused them; the code and "
    "the configuration have to show it."
)


@dataclass(frozen=True)
class LogStatistics:
    """All statistics of a set of logs."""

    entries: Sequence[LogEntry]
    """Those that are counted: requests if there are any, else lines."""
    errors: Sequence[tuple[LogEntry, int]]
    """The first error of each kind, and how often it is logged; the most frequent first."""
    changes: Sequence[LoggedChange]
    total: TrafficWindow
    width_s: int
    buckets: Sequence[TrafficWindow]
    onset: TrafficWindow | None
    """The bucket at which errors rose most clearly."""
    change: LoggedChange | None
    """The last change before the errors rose."""

    @property
    def unit(self) -> str:
        """Return what is counted."""
        first = self.entries[0]
        return "request" if first.is_request or first.requests is not None else "log line"

    @property
    def source(self) -> str:
        """Return the file with most of the entries."""
        ((name, _),) = Counter(entry.source for entry in self.entries).most_common(1)
        return name

    @property
    def peak(self) -> TrafficWindow:
        """Return the bucket with the highest error rate; of equal ones the one with more errors."""
        return max(self.buckets, key=lambda one: (one.error_rate, one.errors))

    def split_at(self, change: LoggedChange) -> tuple[TrafficWindow, TrafficWindow]:
        """Return the totals before and after a change."""
        is_after = [bool(entry.time and entry.time >= change.time) for entry in self.entries]
        sides = [
            [entry for entry, after in zip(self.entries, is_after, strict=True) if after == side]
            for side in (False, True)
        ]
        return sum_entries(sides[0]), sum_entries(sides[1])


def compute_metrics(materials: dict[str, str]) -> dict[str, Any]:
    """Return the metrics of the logs among the materials.

    Raises:
        ToolRefused: there is no log, or none with times.
    """
    logs = read_logs(sort_materials(materials).logs)
    limits = [log.describe_limits() for log in logs]
    gaps = list(chain.from_iterable(gaps for gaps, _ in limits))
    failures = list(chain.from_iterable(cut for _, cut in limits))
    entries = list(chain.from_iterable(log.entries for log in logs))
    undated = [e for e in entries if not e.time and (e.is_request or e.requests or e.level)]
    if undated:
        said = format_count(len(undated), "entry", "entries")
        gaps.append(f"Not counted, as their time cannot be read: {said}.")
    dated = ((entry.time, entry.source, entry.line, entry) for entry in entries if entry.time)
    found = _compute_statistics([entry for *_, entry in sorted(dated, key=lambda one: one[:3])])
    return fit_to_size(
        lambda size: _build_report(found, ToolReport(gaps=[*gaps], failures=failures), size),
        SHOWN_COUNTS,
    )


def _compute_statistics(dated: Sequence[LogEntry]) -> LogStatistics:
    chosen = select_counted_entries(dated)
    if not chosen:
        raise ToolRefused(NO_TIMES)
    width_s, changes = choose_bucket_width_s(chosen), find_changes(dated)
    buckets = build_buckets(chosen, width_s)
    onset = find_error_rise(buckets)
    end = onset and onset.started_at and onset.started_at + timedelta(seconds=width_s)
    return LogStatistics(
        chosen,
        _count_messages(dated),
        changes,
        sum_entries(chosen, chosen[0].time),
        width_s,
        buckets,
        onset,
        find_last_before(changes, end) if end else None,
    )


def _count_messages(entries: Iterable[LogEntry]) -> list[tuple[LogEntry, int]]:
    first, counts = dict[str, LogEntry](), Counter[str]()
    for entry in entries:
        if entry.is_failing and entry.message:
            kind = make_template(entry.message)
            first.setdefault(kind, entry)
            counts[kind] += 1
    return [(first[kind], number) for kind, number in counts.most_common()]


def _build_report(found: LogStatistics, reply: ToolReport, size: int) -> ToolReport:
    whole, first, last = found.total, found.entries[0].time, found.entries[-1].time
    assert first and last, "what is counted has a time"
    text = (
        f"{format_count(whole.requests, found.unit)} from {format_time(first)} to "
        f"{format_time(last)}, {whole.errors:,} of them errors ({_format_rate(whole)})."
    )
    reply.lines.append(f"**{text}**")
    reply.add_claim(text, found.source)
    if whole.errors:
        _add_errors(found, reply)
        _add_change(found, reply)
    else:
        reply.lines.append("No error is logged in this time.")
    _add_durations(found, reply)
    reply.lines.append("")
    _add_buckets(found, reply, size)
    return reply


def _add_errors(found: LogStatistics, reply: ToolReport) -> None:
    first = next(entry for entry in found.entries if count_errors(entry))
    assert first.time is not None, "what is counted has a time"
    text = f"The first error is logged at {format_time(first.time)} (line {first.line})."
    _add_statement(reply, text, first.source, sanitize_line(first.message, MAX_MESSAGE_CHARS))
    peak, width = found.peak, found.width_s
    text = (
        f"The error rate was highest in the {_format_width(width)} from "
        f"{_format_start(peak, found)}: {peak.errors:,} of {peak.requests:,} "
        f"({_format_rate(peak)})."
    )
    _add_statement(reply, text, found.source)
    if found.onset:
        start = _format_start(found.onset, found)
        text = f"Errors rose most clearly in the {_format_width(width)} from {start}."
        _add_statement(reply, text, found.source)
    else:
        reply.lines.append("- No rise of the error rate is distinguishable from chance.")
    for entry, number in found.errors[:MAX_MESSAGES]:
        words = sanitize_line(entry.message, MAX_MESSAGE_CHARS)
        text = f"{format_count(number, 'error')} logged: {format_as_code(mask_secrets(words))}"
        _add_statement(reply, text, entry.source, words)


def _add_change(found: LogStatistics, reply: ToolReport) -> None:
    change = found.change
    if change is None:
        if found.onset:
            why = "all of them came later" if found.changes else "none is reported in the files"
            reply.gaps.append(f"No deployment or other change before the rise is known: {why}.")
        return
    (before, after), name = found.split_at(change), format_as_code(change.description)
    when = format_time(change.time)
    text = (
        f"Before the change at {when} ({name}): {before.errors:,} errors in "
        f"{format_count(before.requests, found.unit)} ({_format_rate(before)}); after it: "
        f"{after.errors:,} in {format_count(after.requests, found.unit)} ({_format_rate(after)})."
    )
    failing = (entry.time for entry in found.entries if count_errors(entry))
    if later := [time for time in failing if time and time >= change.time]:
        # From the rounded times shown, so that a reader who subtracts gets the same.
        waited = later[0].replace(microsecond=0) - change.time.replace(microsecond=0)
        text += f" The first of these came {waited.total_seconds():,.0f} s after the change."
    _add_statement(reply, text, found.source)
    reply.add_claim(f"{name} at {when} (line {change.line}).", change.source)
    if before.requests and after.error_rate > max(MIN_RISE_FACTOR * before.error_rate, 0.005):
        text = f"Errors rose from {_format_rate(before)} to {_format_rate(after)} after {name}"
        reply.add_finding("high", f"{text} at {when}.", change.source, line=change.line)
    reply.gaps.append(CAUSE_CAVEAT)


def _add_durations(found: LogStatistics, reply: ToolReport) -> None:
    if not found.total.durations:
        reply.gaps.append("Percentiles of duration: no durations are logged.")
        return
    # In one claim: two that differ only in a period look like a contradiction.
    told = _format_percentiles(found.total)
    if found.change:
        before, after = map(_format_percentiles, found.split_at(found.change))
        told += f"; before the change {before}; after it {after}"
    _add_statement(reply, f"Durations: {told}.", found.source)


def _add_statement(reply: ToolReport, text: str, source: str, quote: str = "") -> None:
    reply.lines.append(f"- {text}")
    reply.add_claim(text, source, quote if mask_secrets(quote) == quote else "")


def _add_buckets(found: LogStatistics, reply: ToolReport, size: int) -> None:
    """Add the table of buckets around the rise of errors."""
    centre = found.buckets.index(found.onset or found.peak)
    at = max(0, min(centre - size // 3, len(found.buckets) - size))
    kept = found.buckets[at : at + size]
    rows = [
        (
            _format_start(one, found),
            f"{one.requests:,}",
            f"{one.errors:,}",
            _format_rate(one),
            _format_ms(one.compute_percentile(95)),
        )
        for one in kept
    ]
    reply.add_table(("from", f"{found.unit}s", "errors", "error rate", "p95 ms"), rows)
    if left := len(found.buckets) - len(kept):
        reply.lines.append(f"{left} more rows, before and after, are left out.")


def _format_start(part: TrafficWindow, found: LogStatistics) -> str:
    """Return when a bucket begins: with its date, unless all are on one day."""
    first, last = found.entries[0].time, found.entries[-1].time
    assert first and last and part.started_at, "what is counted has a time"
    date = part.started_at.strftime("%b %d" if part.started_at.year == YEARLESS else "%Y-%m-%d")
    if found.width_s >= DAY_S:
        return date
    is_one_day = first.date() == last.date()
    return f"{part.started_at:%H:%M}" if is_one_day else f"{date} {part.started_at:%H:%M}"


def _format_rate(part: TrafficWindow) -> str:
    return f"{100 * part.error_rate:.2f} percent" if part.requests else "no requests"


def _format_percentiles(part: TrafficWindow) -> str:
    if not part.durations:
        return "not known"
    return ", ".join(f"p{n} {_format_ms(part.compute_percentile(n))} ms" for n in (50, 95, 99))


def _format_ms(value: float | None) -> str:
    """Return a duration with one decimal below ten, else as a whole number."""
    if value is None:
        return ""
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def _format_width(width: int) -> str:
    named = {60: "minute", 3600: "hour", 21_600: "6 hours", DAY_S: "day", 7 * DAY_S: "week"}
    return named.get(width, f"{width // DAY_S} days" if width > DAY_S else f"{width // 60} minutes")
