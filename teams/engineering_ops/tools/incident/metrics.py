"""Report the metrics of an incident: rates, percentiles, first error, and last change before it."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from extensions.tools.logs.entries import LogEntry, format_time, make_template
from extensions.tools.logs.reader import read_logs
from extensions.tools.logs.secrets import mask_secrets
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport

from .sources import sort_materials
from .traffic import (
    BUCKET_NAMES,
    LoggedChange,
    Traffic,
    TrafficWindow,
    find_changes,
    find_error_rise,
)

MAX_MESSAGE_CHARS, MAX_MESSAGES, MAX_ROWS = 160, 3, 16
MIN_RISE_FACTOR = 3.0
"""Factor between the error rates before and after a change, for it to be called a rise."""
CAUSE_CAVEAT = (
    "That errors follow a change in time does not show that the change caused them; the code and "
    "the configuration have to show it."
)


def compute_metrics(materials: dict[str, str]) -> dict[str, Any]:
    """Return the metrics of the logs among the materials.

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
