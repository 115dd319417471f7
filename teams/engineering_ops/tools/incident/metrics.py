"""Report the metrics of an incident: rates, percentiles, first error, and last change before it."""

from typing import Any

from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.failures.secrets import mask_secrets
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .log_statistics import LogStatistics, compute_statistics
from .logs import LogEntry, read_logs
from .material_types import sort_materials
from .timestamps import format_time
from .traffic import TrafficWindow

MAX_MESSAGE_CHARS, MAX_MESSAGES = 160, 3
DAY_S = 86_400
MIN_RISE_FACTOR = 3.0
"""Factor between the error rates before and after a change, for it to be called a rise."""
SHOWN_COUNTS = (16, 8)
CAUSE_CAVEAT = (
    "That errors follow a change in time does not show that the change caused them; the code and "
    "the configuration have to show it."
)


def log_metrics(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{materials}` with the metrics of its logs.

    Raises:
        InsufficientMaterials: there is no log, or none with times.
    """
    entries, gaps = read_logs(sort_materials(request["materials"]).logs)
    undated = sum(entry.time is None and _is_counted(entry) for entry in entries)
    if undated:
        said = format_count(undated, "entry", "entries")
        gaps.append(f"Not counted, as their time cannot be read: {said}.")
    found = compute_statistics(entries)
    return fit_to_size(lambda size: _build_report(found, gaps, size), SHOWN_COUNTS)


def _is_counted(entry: LogEntry) -> bool:
    return entry.is_request or entry.requests is not None or bool(entry.level)


def _build_report(found: LogStatistics, gaps: list[str], size: int) -> ToolReport:
    reply = ToolReport(gaps=list(gaps))
    _add_totals(found, reply)
    if found.failing_entries:
        _add_errors(found, reply)
        _add_change(found, reply)
    _add_durations(found, reply)
    reply.lines += ["", _format_table(found, size)]
    return reply


def _add_totals(found: LogStatistics, reply: ToolReport) -> None:
    whole, first, last = found.total, found.counted_entries[0].time, found.counted_entries[-1].time
    assert first and last, "what is counted has a time"
    text = (
        f"{format_count(whole.requests, found.unit)} from {format_time(first)} to "
        f"{format_time(last)}, "
        f"{whole.errors:,} of them errors ({format_error_rate(whole)})."
    )
    reply.lines.append(f"**{text}**")
    reply.add_claim(text, found.source)
    if not whole.errors:
        reply.lines.append("No error is logged in this time.")


def _add_errors(found: LogStatistics, reply: ToolReport) -> None:
    first = found.failing_entries[0]
    assert first.time is not None
    text = f"The first error is logged at {format_time(first.time)} (line {first.line})."
    _add_statement(reply, text, first.source, sanitize_line(first.message, MAX_MESSAGE_CHARS))
    peak, onset = found.peak, found.onset
    text = (
        f"The error rate was highest in the {format_width(found.bucket_width_s)} from "
        f"{_format_start(peak, found)}: "
        f"{peak.errors:,} of {peak.requests:,} ({format_error_rate(peak)})."
    )
    _add_statement(reply, text, found.source)
    if onset:
        text = (
            f"Errors rose most clearly in the {format_width(found.bucket_width_s)} from "
            f"{_format_start(onset, found)}."
        )
        _add_statement(reply, text, found.source)
    else:
        reply.lines.append("- No rise of the error rate is distinguishable from chance.")
    for entry, number in found.error_messages[:MAX_MESSAGES]:
        words = sanitize_line(entry.message, MAX_MESSAGE_CHARS)
        said = format_as_code(mask_secrets(words))
        _add_statement(
            reply, f"{format_count(number, 'error')} logged: {said}", entry.source, words
        )


def _add_change(found: LogStatistics, reply: ToolReport) -> None:
    change = found.suspected_change
    if change is None:
        if found.onset:
            why = "all of them came later" if found.changes else "none is reported in the files"
            reply.gaps.append(f"No deployment or other change before the rise is known: {why}.")
        return
    before, after = found.split_at_change(change)
    text = (
        f"Before the change at {format_time(change.time)} "
        f"({format_as_code(change.description)}): {before.errors:,} "
        f"errors in {format_count(before.requests, found.unit)} "
        f"({format_error_rate(before)}); after it: "
        f"{after.errors:,} in {format_count(after.requests, found.unit)} "
        f"({format_error_rate(after)})."
    )
    later = [
        entry.time for entry in found.failing_entries if entry.time and entry.time >= change.time
    ]
    if later:
        # From the rounded times shown, so that a reader who subtracts gets the same.
        first, before_it = later[0].replace(microsecond=0), change.time.replace(microsecond=0)
        seconds = (first - before_it).total_seconds()
        text += f" The first of these came {seconds:,.0f} s after the change."
    _add_statement(reply, text, found.source)
    reply.add_claim(
        f"{format_as_code(change.description)} at {format_time(change.time)} (line {change.line}).",
        change.source,
    )
    if before.requests and after.error_rate > max(MIN_RISE_FACTOR * before.error_rate, 0.005):
        message = (
            f"Errors rose from {format_error_rate(before)} to {format_error_rate(after)} "
            f"after {format_as_code(change.description)} at "
            f"{format_time(change.time)}."
        )
        reply.add_finding("high", message, change.source, line=change.line)
    reply.gaps.append(CAUSE_CAVEAT)


def _add_durations(found: LogStatistics, reply: ToolReport) -> None:
    if not found.total.durations:
        reply.gaps.append("Percentiles of duration: no durations are logged.")
        return
    # In one claim: two that differ only in a period look like a contradiction.
    told = format_percentiles(found.total)
    if change := found.suspected_change:
        before, after = map(format_percentiles, found.split_at_change(change))
        told += f"; before the change {before}; after it {after}"
    _add_statement(reply, f"Durations: {told}.", found.source)


def _add_statement(reply: ToolReport, text: str, source: str, quote: str = "") -> None:
    reply.lines.append(f"- {text}")
    reply.add_claim(text, source, quote if mask_secrets(quote) == quote else "")


def _format_table(found: LogStatistics, size: int) -> str:
    lines = [
        f"| from | {found.unit}s | errors | error rate | p95 ms |",
        "| --- | --- | --- | --- | --- |",
    ]
    centre = found.buckets.index(found.onset or found.peak)
    at = max(0, min(centre - size // 3, len(found.buckets) - size))
    kept = found.buckets[at : at + size]
    for one in kept:
        slow = one.compute_percentile(0.95)
        cells = (
            _format_start(one, found),
            f"{one.requests:,}",
            f"{one.errors:,}",
            format_error_rate(one),
            format_milliseconds(slow),
        )
        lines.append(f"| {' | '.join(cells)} |")
    left = len(found.buckets) - len(kept)
    return "\n".join(lines) + (
        f"\n\n{left} more rows, before and after, are left out." * bool(left)
    )


def _format_start(part: TrafficWindow, found: LogStatistics) -> str:
    """Return when a bucket begins: with its date, unless all are on one day."""
    first, last = found.counted_entries[0].time, found.counted_entries[-1].time
    assert first and last and part.started_at, "what is counted has a time"
    if found.bucket_width_s >= DAY_S:
        return f"{part.started_at:%Y-%m-%d}"
    is_one_day = first.date() == last.date()
    return f"{part.started_at:%H:%M}" if is_one_day else f"{part.started_at:%Y-%m-%d %H:%M}"


def format_error_rate(part: TrafficWindow) -> str:
    """Return the error rate as text."""
    return f"{100 * part.error_rate:.2f} percent" if part.requests else "no requests"


def format_percentiles(part: TrafficWindow) -> str:
    """Return the usual three percentiles as text."""
    if not part.durations:
        return "not known"
    values = [(name, part.compute_percentile(share)) for name, share in _PERCENTILE_SHARES]
    return ", ".join(f"{name} {format_milliseconds(value)} ms" for name, value in values)


def format_milliseconds(value: float | None) -> str:
    """Return a duration with one decimal below ten, else as a whole number."""
    if value is None:
        return ""
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def format_width(width: int) -> str:
    """Return the name of a bucket width."""
    named = {60: "minute", 3600: "hour", 21_600: "6 hours", DAY_S: "day", 7 * DAY_S: "week"}
    return named.get(width, f"{width // DAY_S} days" if width > DAY_S else f"{width // 60} minutes")


_PERCENTILE_SHARES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
