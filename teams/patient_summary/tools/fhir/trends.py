"""Report trends: a table of series, every value with its source, and what cannot be determined."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .record import PatientRecord
from .series import GroupedResults, MeasuredValue, ResultSeries, group_results
from .values import JsonObject, format_number, format_quantity, get_part

SHOWN_COUNTS = (60, 40, 25, 15)
"""Values shown in all, fewer where they are too long together; of each series at least the last."""
COLUMNS = ("test (LOINC)", "first", "last", "direction", "own range of the last", "flag")


def report_trends(
    record: PatientRecord,
    codes: Collection[str] = (),
    since: date | None = None,
    until: date | None = None,
) -> dict[str, Any]:
    """Report every series of a record, or those of some LOINC codes, within some days.

    Raises:
        ToolRefused: there are no values of these codes or days.
    """
    found = group_results(record.list_entries("Observation"))
    known = join_names(sorted({series.code for series in found.series}))
    limited = [_limit_days(series, since, until) for series in found.series]
    found.series = [s for s in limited if s.values and (s.code in codes or not codes)]
    if not found.series and (codes or since or until):
        days = f" from {since or 'the first'} to {until or 'the last'}" if since or until else ""
        raise ToolRefused(
            f"{record.source} has no dated values of {join_names(codes) or 'any code'}{days}; "
            f"it has {known or 'none at all'}"
        )
    return fit_to_size(lambda most: _build_report(record, found, most), SHOWN_COUNTS)


def _limit_days(series: ResultSeries, since: date | None, until: date | None) -> ResultSeries:
    kept = (value for value in series.values if value.measured_on.may_be_within(since, until))
    return replace(series, values=tuple(kept))


def _build_report(record: PatientRecord, found: GroupedResults, most: int) -> ToolReport:
    reply = ToolReport(lines=[record.heading, ""])
    shown = found.series[:most]
    if shown:
        reply.add_table(COLUMNS, [_build_row(series) for series in shown])
    else:
        reply.lines.append("No dated value with a LOINC code is there to follow.")
    for series in shown:
        _add_series(reply, record, series, max(1, most // len(shown)))
    for name, told in found.text_results[:most]:
        reply.lines.append(f"- {told} ({name})")
        reply.add_claim(told, record.cite(name))
    if len(found.text_results) > most:
        reply.gaps.append(f"{len(found.text_results) - most} more results in words are not shown.")
    reply.gaps += _list_gaps(record, found)
    if unshown := found.series[most:]:
        names = join_names(f"{series.title} ({series.code})" for series in unshown)
        reply.gaps.append(f"Not shown, for length: {names}; ask for them by code.")
    reply.gaps += record.list_gaps(["Observation"])
    return reply


def _add_series(reply: ToolReport, record: PatientRecord, series: ResultSeries, most: int) -> None:
    """Add the newest values as claims, and what is out of range or contradictory as findings."""
    for value in series.values[-most:]:
        said, source = _describe_value(series, value), record.cite(value.name)
        reply.add_claim(said, source)
        if value.is_critical or (value.is_out_of_range and value is series.last_value):
            reply.add_finding("high" if value.is_critical else "medium", said, source)
        if value.is_contradictory:
            message = f"Interpretation and range do not agree: {said}."
            reply.add_finding("medium", message, source, "See the laboratory's report.")
    if hidden := series.values[:-most]:
        critical = format_count(sum(value.is_critical for value in hidden), "critical value")
        reply.gaps.append(
            f"{series.title}: {format_count(len(hidden), 'earlier value')} not shown, of which "
            f"{critical}."
        )


def _build_row(series: ResultSeries) -> tuple[str, ...]:
    first, last = series.values[0], series.last_value
    notes = (last.range_position, last.explained_flags, "preliminary" * last.is_preliminary)
    return (
        f"{series.title} ({series.code})",
        str(first) if first is not last else "",
        str(last),
        series.direction,
        _format_range(last.reference_range),
        "; ".join(filter(None, notes)),
    )


def _describe_value(series: ResultSeries, value: MeasuredValue) -> str:
    parts = [f"{series.title} (LOINC {series.code}) {value}"]
    if value.range_position:
        span = _format_range(value.reference_range)
        parts.append(f"{value.range_position} its own range ({span})")
    if value.flags:
        parts.append(f"interpretation {value.explained_flags}")
    if value.is_preliminary:
        parts.append("preliminary")
    return ", ".join(parts)


def _format_range(span: JsonObject) -> str:
    """Return a range written out, such as `4.0 to 5.6 %`; in its own words if it has no numbers."""
    low, high = get_part(span, "low"), get_part(span, "high")
    if low and high:
        return f"{format_number(low.get('value'))} to {format_quantity(high)}"
    if low:
        return f"at least {format_quantity(low)}"
    return f"at most {format_quantity(high)}" if high else str(span.get("text", ""))


def _list_gaps(record: PatientRecord, found: GroupedResults) -> Iterator[str]:
    if not (found.series or found.text_results):
        yield f"{record.source} records no values; that does not mean that nothing was measured."
    titles = Counter(series.code for series in found.series)
    for code in (code for code, number in titles.items() if number > 1):
        same = [series for series in found.series if series.code == code]
        units = join_names(series.unit or "none" for series in same)
        yield f"{same[0].title} comes in different units ({units}), which are not compared."
    lasts = [(series.title, series.last_value) for series in found.series]
    named = {
        "No reference range and no interpretation": dict.fromkeys(
            title for title, last in lasts if not (last.ranges or last.flags)
        ),
        "Not compared with their range (for some people only, in another unit, or in words)": [
            title
            for title, last in lasts
            if last.ranges and not last.range_position and "comparator" not in last.quantity
        ],
        "Without a date, so in no trend": found.undated,
        "Without a LOINC code, so in no trend": found.uncoded,
        "Without a result": found.without_result,
        "Cancelled": found.cancelled,
    }
    yield from (f"{why}: {join_names(names)}." for why, names in named.items() if names)
    if any(len(series.values) > 1 for series in found.series):
        yield (
            "A direction compares the last value with the first; whether a change matters is for "
            "a clinician to judge."
        )
