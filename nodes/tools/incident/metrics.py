"""The figures of an incident: rates, percentiles, the first error, and the change before it."""

from typing import Any

from nodes.tools.incident.figures import Figures, figures
from nodes.tools.incident.kinds import sort
from nodes.tools.incident.logs import Entry, read_logs
from nodes.tools.incident.moments import shown
from nodes.tools.incident.traffic import Stretch
from nodes.tools.plain_text import code, plain_line
from nodes.tools.replies import Reply, counted, fitted
from nodes.tools.secrets import masked

MAX_MESSAGE_CHARS, MAX_MESSAGES = 160, 3
DAY_S = 86_400
MIN_RISE = 3.0
"""Times the rate of errors before a change, for it to be called a rise."""
SIZES = (16, 8)
CAUSE = (
    "That errors follow a change in time does not show that the change caused them; the code and "
    "the configuration have to show it."
)


def log_metrics(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{materials}` with the figures of its logs.

    Raises:
        NothingFits: there is no log, or none with times.
    """
    entries, gaps = read_logs(sort(request["materials"]).logs)
    undated = sum(entry.time is None and _counts(entry) for entry in entries)
    if undated:
        said = counted(undated, "entry", "entries")
        gaps.append(f"Not counted, as their time cannot be read: {said}.")
    found = figures(entries)
    return fitted(lambda size: _reply(found, gaps, size), SIZES)


def _counts(entry: Entry) -> bool:
    return entry.is_request or entry.requests is not None or bool(entry.level)


def _reply(found: Figures, gaps: list[str], size: int) -> Reply:
    reply = Reply(gaps=list(gaps))
    _totals(found, reply)
    if found.failing:
        _errors(found, reply)
        _around_the_change(found, reply)
    _slowness(found, reply)
    reply.lines += ["", _table(found, size)]
    return reply


def _totals(found: Figures, reply: Reply) -> None:
    whole, first, last = found.whole, found.counted[0].time, found.counted[-1].time
    assert first and last, "what is counted has a time"
    text = (
        f"{counted(whole.requests, found.unit)} from {shown(first)} to {shown(last)}, "
        f"{whole.errors:,} of them errors ({percent(whole)})."
    )
    reply.lines.append(f"**{text}**")
    reply.claim(text, found.source)
    if not whole.errors:
        reply.lines.append("No error is logged in this time.")


def _errors(found: Figures, reply: Reply) -> None:
    first = found.failing[0]
    assert first.time is not None
    text = f"The first error is logged at {shown(first.time)} (line {first.line})."
    _say(reply, text, first.source, plain_line(first.message, MAX_MESSAGE_CHARS))
    peak, onset = found.peak, found.onset
    text = (
        f"The error rate was highest in the {span(found.width_s)} from {_begin(peak, found)}: "
        f"{peak.errors:,} of {peak.requests:,} ({percent(peak)})."
    )
    _say(reply, text, found.source)
    if onset:
        text = f"Errors rose most clearly in the {span(found.width_s)} from {_begin(onset, found)}."
        _say(reply, text, found.source)
    else:
        reply.lines.append("- No rise of the error rate stands out from chance.")
    for entry, number in found.messages[:MAX_MESSAGES]:
        words = plain_line(entry.message, MAX_MESSAGE_CHARS)
        said = code(masked(words))
        _say(reply, f"{counted(number, 'error')} logged: {said}", entry.source, words)


def _around_the_change(found: Figures, reply: Reply) -> None:
    change = found.suspect
    if change is None:
        if found.onset:
            why = "all of them came later" if found.changes else "none is told of in the files"
            reply.gaps.append(f"No deployment or other change before the rise is known: {why}.")
        return
    before, after = found.around(change)
    text = (
        f"Before the change at {shown(change.time)} ({code(change.what)}): {before.errors:,} "
        f"errors in {counted(before.requests, found.unit)} ({percent(before)}); after it: "
        f"{after.errors:,} in {counted(after.requests, found.unit)} ({percent(after)})."
    )
    later = [entry.time for entry in found.failing if entry.time and entry.time >= change.time]
    if later:
        # Of the times as they are shown, so that a reader who subtracts finds the same.
        first, before_it = later[0].replace(microsecond=0), change.time.replace(microsecond=0)
        seconds = (first - before_it).total_seconds()
        text += f" The first of these came {seconds:,.0f} s after the change."
    _say(reply, text, found.source)
    reply.claim(f"{code(change.what)} at {shown(change.time)} (line {change.line}).", change.source)
    if before.requests and after.rate > max(MIN_RISE * before.rate, 0.005):
        message = (
            f"Errors rose from {percent(before)} to {percent(after)} after {code(change.what)} at "
            f"{shown(change.time)}."
        )
        reply.finding("high", message, change.source, line=change.line)
    reply.gaps.append(CAUSE)


def _slowness(found: Figures, reply: Reply) -> None:
    if not found.whole.durations:
        reply.gaps.append("Percentiles of duration: no durations are logged.")
        return
    # In one claim: two that differ in a period alone look like a contradiction.
    told = percentiles(found.whole)
    if change := found.suspect:
        before, after = map(percentiles, found.around(change))
        told += f"; before the change {before}; after it {after}"
    _say(reply, f"Durations: {told}.", found.source)


def _say(reply: Reply, text: str, source: str, quote: str = "") -> None:
    reply.lines.append(f"- {text}")
    reply.claim(text, source, quote if masked(quote) == quote else "")


def _table(found: Figures, size: int) -> str:
    lines = [
        f"| from | {found.unit}s | errors | error rate | p95 ms |",
        "| --- | --- | --- | --- | --- |",
    ]
    centre = found.buckets.index(found.onset or found.peak)
    at = max(0, min(centre - size // 3, len(found.buckets) - size))
    kept = found.buckets[at : at + size]
    for one in kept:
        slow = one.percentile(0.95)
        cells = (
            _begin(one, found),
            f"{one.requests:,}",
            f"{one.errors:,}",
            percent(one),
            milliseconds(slow),
        )
        lines.append(f"| {' | '.join(cells)} |")
    left = len(found.buckets) - len(kept)
    return "\n".join(lines) + (
        f"\n\n{left} more rows, before and after, are left out." * bool(left)
    )


def _begin(part: Stretch, found: Figures) -> str:
    """Write when a part of the time begins: with its date, unless all is of one day."""
    first, last = found.counted[0].time, found.counted[-1].time
    assert first and last and part.begins, "what is counted has a time"
    if found.width_s >= DAY_S:
        return f"{part.begins:%Y-%m-%d}"
    is_one_day = first.date() == last.date()
    return f"{part.begins:%H:%M}" if is_one_day else f"{part.begins:%Y-%m-%d %H:%M}"


def percent(part: Stretch) -> str:
    """Write the rate of errors."""
    return f"{100 * part.rate:.2f} percent" if part.requests else "no requests"


def percentiles(part: Stretch) -> str:
    """Write the usual three."""
    if not part.durations:
        return "not known"
    values = [(name, part.percentile(share)) for name, share in _SHARES]
    return ", ".join(f"{name} {milliseconds(value)} ms" for name, value in values)


def milliseconds(value: float | None) -> str:
    """Write a duration to a tenth below ten, else whole."""
    if value is None:
        return ""
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def span(width: int) -> str:
    """Name a width."""
    named = {60: "minute", 3600: "hour", 21_600: "6 hours", DAY_S: "day", 7 * DAY_S: "week"}
    return named.get(width, f"{width // DAY_S} days" if width > DAY_S else f"{width // 60} minutes")


_SHARES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
