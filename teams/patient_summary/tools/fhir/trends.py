"""Report trends: a table of series, every value with its source, and what cannot be determined."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .datatypes import format_decimal
from .record import PatientRecord
from .resources import Observation, ReferenceRange
from .series import (
    FLAG_MEANINGS,
    GroupedResults,
    MeasuredValue,
    ResultSeries,
    group_results,
)

SHOWN_COUNTS = (60, 40, 25, 15)
"""Values shown in all, fewer where they are too long together; of each series at least the last."""
TABLE_HEADER = (
    "| test (LOINC) | first | last | direction | own range of the last | flag |",
    "|---" * 6 + "|",
)
POSITION_TEXTS = {
    "below": "below its own range",
    "above": "above its own range",
    "within": "within its own range",
}


def describe_trends(record: PatientRecord, codes: str = "") -> dict[str, Any]:
    """Report every series of a record, or those of some LOINC codes.

    Raises:
        ToolRefused: there are no values of these codes.
    """
    found = group_results(record.list_entries(Observation))
    wanted = [code for code in Pattern(r"[\s,;]+").split(codes) if code]
    if wanted:
        known = sorted({series.code for series in found.series})
        found.series = [series for series in found.series if series.code in wanted]
        if not found.series:
            raise ToolRefused(
                f"{record.source} has no dated values of {join_names(wanted)}; it has "
                f"{join_names(known) or 'none at all'}"
            )
    return fit_to_size(lambda most: _build_report(record, found, most), SHOWN_COUNTS)


def _build_report(record: PatientRecord, found: GroupedResults, most: int) -> ToolReport:
    reply = ToolReport(lines=[record.heading, ""])
    shown = found.series[:most]
    if shown:
        reply.lines += [*TABLE_HEADER, *map(_format_row, shown), "", "### Every value", ""]
    else:
        reply.lines.append("No dated value with a LOINC code is there to follow.")
    for series in shown:
        _add_series(reply, record, series, max(1, most // len(shown)))
    if found.text_results:
        _add_text_results(reply, record, found, most)
    reply.gaps += _list_gaps(record, found)
    if unshown := found.series[most:]:
        names = join_names(f"{series.title} ({series.code})" for series in unshown)
        reply.gaps.append(f"Not shown, for length: {names}; ask for them by code.")
    reply.gaps += record.list_gaps(["Observation"])
    return reply


def _add_series(reply: ToolReport, record: PatientRecord, series: ResultSeries, most: int) -> None:
    values = series.values[-most:]
    earlier = len(series.values) - len(values)
    told = [f"{earlier} earlier not shown"] if earlier else []
    for value in values:
        flag = f" {'/'.join(value.flags)}" if value.flags else ""
        told.append(f"{value.quantity.display_text}{flag} on {_format_time(value)} ({value.name})")
        reply.add_claim(_describe_value(series, value), record.cite(value.name))
    reply.lines.append(f"- {series.title}: {'; '.join(told)}")
    for value in values:
        _add_findings(reply, record, series, value)
    hidden = sum(value.is_critical for value in series.values[: -len(values)])
    if hidden:
        reply.gaps.append(
            f"{series.title}: {format_count(hidden, 'earlier critical value')} not shown."
        )


def _add_findings(
    reply: ToolReport, record: PatientRecord, series: ResultSeries, value: MeasuredValue
) -> None:
    """Add findings: what is out of range now, what was critical, and what is contradictory."""
    said, source = _describe_value(series, value), record.cite(value.name)
    if value.is_out_of_range and (value is series.last_value or value.is_critical):
        reply.add_finding("high" if value.is_critical else "medium", said, source)
    if value.is_contradictory:
        reply.add_finding(
            "medium",
            f"Interpretation and range do not agree: {said}.",
            source,
            "See the laboratory's report.",
        )


def _add_text_results(
    reply: ToolReport, record: PatientRecord, found: GroupedResults, most: int
) -> None:
    reply.lines += ["", "### Results in words", ""]
    for name, observation, told in found.text_results[:most]:
        when = observation.observed_on.day if observation.observed_on else "not dated"
        reply.lines.append(f"- {told}, {when} ({name})")
        reply.add_claim(f"{told}, {when}", record.cite(name))
    if len(found.text_results) > most:
        reply.gaps.append(f"{len(found.text_results) - most} more results in words are not shown.")


def _format_row(series: ResultSeries) -> str:
    first, last = series.values[0], series.last_value
    cells = (
        f"{series.title} ({series.code})",
        f"{first.quantity.display_text} on {_format_time(first)}" if first is not last else "",
        f"{last.quantity.display_text} on {_format_time(last)}",
        series.direction,
        _format_range(last.reference_range) if last.reference_range else "",
        _format_flags(last),
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _describe_value(series: ResultSeries, value: MeasuredValue) -> str:
    parts = [
        f"{series.title} (LOINC {series.code}) {value.quantity.display_text} on "
        f"{_format_time(value)}"
    ]
    if value.range_position and value.reference_range:
        parts.append(
            f"{POSITION_TEXTS[value.range_position]} ({_format_range(value.reference_range)})"
        )
    if value.flags:
        parts.append(f"interpretation {_explain_flags(value)}")
    if value.is_preliminary:
        parts.append("preliminary")
    return ", ".join(parts)


def _format_flags(value: MeasuredValue) -> str:
    side = POSITION_TEXTS[value.range_position].split()[0] if value.range_position else ""
    return "; ".join(
        filter(None, (side, _explain_flags(value), "preliminary" * value.is_preliminary))
    )


def _explain_flags(value: MeasuredValue) -> str:
    return ", ".join(
        f"{flag} ({FLAG_MEANINGS[flag]})" if flag in FLAG_MEANINGS else flag for flag in value.flags
    )


def _format_range(span: ReferenceRange) -> str:
    """Return a range written out, such as `4.0 to 5.6 %`; in its own words if it has no numbers."""
    low = format_decimal(span.low.value) if span.low else ""
    high = span.high.display_text if span.high else ""
    if low and high:
        return f"{low} to {high}"
    if low and span.low:
        return f"at least {span.low.display_text}"
    return f"at most {high}" if high else span.text


def _format_time(value: MeasuredValue) -> str:
    """Return the day, and the time if the resource has one."""
    text = value.measured_on.text
    return text[:16].replace("T", " ") if "T" in text else text


def _list_gaps(record: PatientRecord, found: GroupedResults) -> Iterator[str]:
    if not (found.series or found.text_results):
        yield f"{record.source} records no values; that does not mean that nothing was measured."
    titles = Counter(series.code for series in found.series)
    for code in (code for code, number in titles.items() if number > 1):
        same = [series for series in found.series if series.code == code]
        units = join_names(series.unit_key or "none" for series in same)
        yield f"{same[0].title} comes in different units ({units}), which are not compared."
    bare = [series.title for series in found.series if not _has_reference(series.last_value)]
    if bare:
        yield f"No reference range and no interpretation: {join_names(dict.fromkeys(bare))}."
    unheld = [series.title for series in found.series if _is_not_comparable(series.last_value)]
    if unheld:
        yield (
            "Not held against their range, which is for some people only, in another unit or in "
            f"words: {join_names(unheld)}."
        )
    named = {
        "Without a date, so in no trend": found.undated,
        "Without a LOINC code, so in no trend": found.uncoded,
        "Without a result": found.without_result,
        "Cancelled": found.cancelled,
    }
    for why, names in named.items():
        if names:
            yield f"{why}: {join_names(names)}."
    if any(len(series.values) > 1 for series in found.series):
        yield (
            "A direction compares the last value with the first; whether a change matters is for "
            "a clinician to judge."
        )


def _has_reference(value: MeasuredValue) -> bool:
    return bool(value.ranges or value.interpretation)


def _is_not_comparable(value: MeasuredValue) -> bool:
    return bool(value.ranges) and not value.range_position and not value.quantity.comparator
