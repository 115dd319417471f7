"""Report trends: a table of series, every value with its source, and what cannot be determined."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import groupby
from typing import Annotated, Any

from pydantic import Field

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .record import PatientRecord
from .series import GroupedResults, MeasuredValue, ResultSeries, group_results
from .values import JsonObject, format_number, format_quantity, get_part

SHOWN_COUNTS = (60, 40, 25, 15)
"""Values shown in all, fewer where they are too long together; of each series at least the last."""
COLUMNS = ("test (LOINC)", "first", "last", "direction", "own range of the last", "flag")

LoincCode = Annotated[str, Field(pattern=r"^\d{1,7}-\d$", description="Such as 4548-4")]


def report_trends(
    record: PatientRecord,
    codes: Annotated[
        list[LoincCode], Field(description="LOINC codes to report; all if empty", max_length=50)
    ] = [],  # noqa: B006  # pydantic copies it
    since: Annotated[date | None, Field(description="First day of the values, YYYY-MM-DD")] = None,
    until: Annotated[date | None, Field(description="Last day of the values, YYYY-MM-DD")] = None,
) -> dict[str, Any]:
    """Follow measured values by LOINC code over time: first, last, direction, flags.

    A value is compared with the reference range and interpretation of its own resource only; values
    in different units are not compared. Cite a source as given, such as
    `bundle.json#Observation/hba1c-2`.
    Example: lab_trends(material="bundle.json", codes=["4548-4"], since="2024-01-01")

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
    kept = [value for value in series.values if value.measured_on.may_be_within(since, until)]
    return replace(series, values=kept)


def _build_report(record: PatientRecord, found: GroupedResults, most: int) -> ToolReport:
    report = record.begin_report()
    shown = found.series[:most]
    if shown:
        report.add_table(COLUMNS, [_build_row(series) for series in shown])
    else:
        report.lines.append("No dated value with a LOINC code is there to follow.")
    for series in shown:
        _add_series(report, record, series, max(1, most // len(shown)))
    for name, told in found.text_results[:most]:
        record.add_statement(report, name, told)
    if len(found.text_results) > most:
        report.gaps.append(f"{len(found.text_results) - most} more results in words are not shown.")
    report.gaps += _list_gaps(record, found)
    if unshown := found.series[most:]:
        names = join_names(f"{series.title} ({series.code})" for series in unshown)
        report.gaps.append(f"Not shown, for length: {names}; ask for them by code.")
    report.gaps += record.list_gaps(["Observation"])
    return report


def _add_series(report: ToolReport, record: PatientRecord, series: ResultSeries, most: int) -> None:
    """Add the newest values as claims, and what is out of range or contradictory as findings."""
    for value in series.values[-most:]:
        said, source = _describe_value(series, value), record.cite(value.name)
        report.add_claim(said, source)
        if value.is_critical or (value.is_out_of_range and value is series.last_value):
            report.add_finding("high" if value.is_critical else "medium", said, source)
        if value.is_contradictory:
            message = f"Interpretation and range do not agree: {said}."
            report.add_finding("medium", message, source, "See the laboratory's report.")
    if hidden := series.values[:-most]:
        critical = format_count(sum(value.is_critical for value in hidden), "critical value")
        earlier = format_count(len(hidden), "earlier value")
        report.gaps.append(f"{series.title}: {earlier} not shown, of which {critical}.")


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
    position, span = value.range_position, _format_range(value.reference_range)
    parts = [
        f"{series.title} (LOINC {series.code}) {value}",
        f"{position} its own range ({span})" if position else "",
        f"interpretation {value.explained_flags}" if value.flags else "",
        "preliminary" * value.is_preliminary,
    ]
    return ", ".join(filter(None, parts))


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
    by_code = sorted(found.series, key=lambda series: series.code)
    for _, group in groupby(by_code, key=lambda series: series.code):
        first, *others = group
        if others:
            units = join_names(series.unit or "none" for series in (first, *others))
            yield f"{first.title} comes in different units ({units}), which are not compared."
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
        **found.left_out,
    }
    yield from (f"{why}: {join_names(names)}." for why, names in named.items() if names)
    if any(len(series.values) > 1 for series in found.series):
        yield (
            "A direction compares the last value with the first; whether a change matters is for "
            "a clinician to judge."
        )
