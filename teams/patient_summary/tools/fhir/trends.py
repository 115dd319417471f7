"""Report trends: results of one test in one unit over time, each with its own reference range.

The table of series names every value with its source, and what cannot be determined.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import groupby, pairwise
from typing import Annotated, Any, Literal

from pydantic import Field

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .record import PatientRecord, RecordEntry
from .values import (
    FhirDate,
    JsonObject,
    find_code,
    format_concept,
    format_number,
    format_quantity,
    get_label,
    get_part,
    get_unit,
    parse_date,
)

LOINC_SYSTEM = "http://loinc.org"
RangePosition = Literal["below", "above", "within", ""]
"""Position of a value relative to its own range; empty if that is not known."""

FLAGS: dict[str, tuple[RangePosition, str]] = {
    "H": ("above", "high"),
    "HH": ("above", "critically high"),
    "HU": ("above", "significantly high"),
    "L": ("below", "low"),
    "LL": ("below", "critically low"),
    "LU": ("below", "significantly low"),
    "N": ("within", "normal"),
    "A": ("", "abnormal"),
    "AA": ("", "critically abnormal"),
}
"""The position that a code of an interpretation implies, and its meaning."""
CRITICAL_FLAGS = frozenset(("HH", "LL", "AA"))


@dataclass(frozen=True)
class MeasuredValue:
    """One measured value, with what its resource states about it."""

    name: str
    """Name of the observation, which a component shares with its siblings."""
    measured_on: FhirDate
    quantity: JsonObject
    ranges: list[JsonObject]
    flags: list[str]
    """The interpretation's codes, or its words."""
    is_preliminary: bool

    @property
    def number(self) -> Decimal:
        return Decimal(self.quantity["value"])

    @property
    def reference_range(self) -> JsonObject:
        """Return the one range that applies to everyone; empty if there is none, or several."""
        span = self.ranges[0] if len(self.ranges) == 1 else {}
        kind = find_code(get_part(span, "type"))
        is_for_some = kind not in ("", "normal") or "appliesTo" in span or "age" in span
        return {} if is_for_some else span

    @property
    def range_position(self) -> RangePosition:
        """Compare the value with its own range, only if the unit is the same."""
        low, high = (get_part(self.reference_range, end) for end in ("low", "high"))
        ends, unit = [end for end in (low, high) if end], get_unit(self.quantity)
        is_known = all("value" in end and get_unit(end) == unit for end in ends)
        if not ends or not is_known or "comparator" in self.quantity:
            return ""
        if low and self.number < low["value"]:
            return "below"
        return "above" if high and self.number > high["value"] else "within"

    @property
    def flag_positions(self) -> set[RangePosition]:
        """Return the positions that the interpretation implies."""
        return {FLAGS[flag][0] for flag in self.flags if flag in FLAGS} - {""}

    @property
    def is_out_of_range(self) -> bool:
        """Return whether the range or the interpretation calls it out of range."""
        positions = {self.range_position, *self.flag_positions}
        return bool(positions & {"below", "above"} or {"A", "AA"} & set(self.flags))

    @property
    def is_critical(self) -> bool:
        """Return whether the interpretation calls it critical."""
        return bool(CRITICAL_FLAGS & set(self.flags))

    @property
    def is_contradictory(self) -> bool:
        """Return whether the interpretation contradicts the range."""
        told = self.flag_positions
        return bool(self.range_position and told and self.range_position not in told)

    @property
    def explained_flags(self) -> str:
        return ", ".join(f"{f} ({FLAGS[f][1]})" if f in FLAGS else f for f in self.flags)

    def __str__(self) -> str:
        """Return the quantity and the day, and the time if the resource has one."""
        return f"{format_quantity(self.quantity)} on {self.measured_on.text[:16].replace('T', ' ')}"


@dataclass(frozen=True)
class ResultSeries:
    """Values of one test in one unit, the oldest first."""

    code: str
    title: str
    unit: str
    values: list[MeasuredValue]

    @property
    def last_value(self) -> MeasuredValue:
        return self.values[-1]

    @property
    def direction(self) -> str:
        """Compare the last value with the first, and check that each step had that direction."""
        if len(self.values) == 1:
            return "one value"
        if not self.unit:
            return "not compared: no unit is stated"
        if any("comparator" in value.quantity for value in self.values):
            return "not compared: a value is only a bound"
        times = [value.measured_on for value in self.values]
        if not all(one.is_before(other) for one, other in pairwise(times)):
            return "not compared: the order in time is not certain"
        steps = [other.number - one.number for one, other in pairwise(self.values)]
        change = sum(steps)
        if not change:
            return "last as first, with changes between" if any(steps) else "unchanged"
        word = "rising" if change > 0 else "falling"
        return word if all(step * change > 0 for step in steps) else f"{word}, not at each step"


@dataclass
class GroupedResults:
    """The grouped results of the observations of a record."""

    series: list[ResultSeries] = field(default_factory=list)
    text_results: list[tuple[str, str]] = field(default_factory=list)
    """Results that are not quantities, each with its observation's name."""
    left_out: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Names of observations that are in no series, by the reason."""


def group_results(observations: Iterable[RecordEntry]) -> GroupedResults:
    """Group results by LOINC code and unit, those out of range first."""
    found, by_key = GroupedResults(), dict[tuple[str, str], ResultSeries]()
    for entry in observations:
        resource = entry.resource
        parts = [resource, *resource.get("component", [])]
        results = [part for part in parts if _has_quantity(part) or _format_text_result(part)]
        if resource.get("status") == "cancelled":
            found.left_out["Cancelled"].append(entry.name)
        elif results or "hasMember" in resource:
            for result in results:
                _add_result(found, by_key, entry, result)
        else:
            reasons = [get_label(get_part(part, "dataAbsentReason")) for part in parts]
            told = ": ".join([entry.name, *filter(None, reasons)][:2])
            found.left_out["Without a result"].append(told)
    for series in by_key.values():
        series.values.sort(key=lambda v: (v.measured_on.earliest, v.measured_on.latest))
    found.series = sorted(
        by_key.values(), key=lambda one: (not one.last_value.is_out_of_range, one.title.lower())
    )
    return found


def get_observed_date(observation: JsonObject) -> str:
    """Return when an observation was made; empty if that is not stated."""
    begun = get_part(observation, "effectivePeriod").get("start", "")
    instant = observation.get("effectiveInstant", "")
    return str(observation.get("effectiveDateTime", "") or instant or begun)


def _has_quantity(result: JsonObject) -> bool:
    return "value" in get_part(result, "valueQuantity")


def _format_text_result(result: JsonObject) -> str:
    """Return a result that is not a quantity; empty if there is none."""
    if "valueCodeableConcept" in result:
        return get_label(result["valueCodeableConcept"])
    if "valueInteger" in result:
        return format_number(result["valueInteger"])
    if "valueBoolean" in result:
        return str(result["valueBoolean"]).lower()
    return str(result.get("valueString", ""))


def _add_result(
    found: GroupedResults,
    by_key: dict[tuple[str, str], ResultSeries],
    entry: RecordEntry,
    result: JsonObject,
) -> None:
    """Add a result to its series, or where it belongs without one."""
    quantity, concept = get_part(result, "valueQuantity"), get_part(result, "code")
    code, label, unit = find_code(concept, LOINC_SYSTEM), get_label(concept), get_unit(quantity)
    measured_on = parse_date(get_observed_date(entry.resource))
    if not _has_quantity(result):
        day = measured_on.day if measured_on else "not dated"
        told = f"{format_concept(concept)}: {_format_text_result(result)}, {day}"
        found.text_results.append((entry.name, told))
    elif not code:
        told = f"{entry.name} ({label or 'unnamed'})"
        found.left_out["Without a LOINC code, so in no trend"].append(told)
    elif measured_on is None:
        told = f"{entry.name} ({label}, {format_quantity(quantity)})"
        found.left_out["Without a date, so in no trend"].append(told)
    else:
        value = MeasuredValue(
            name=entry.name,
            measured_on=measured_on,
            quantity=quantity,
            ranges=result.get("referenceRange", []),
            flags=[find_code(each) or get_label(each) for each in result.get("interpretation", [])],
            is_preliminary=entry.resource.get("status") in ("preliminary", "registered"),
        )
        series = by_key.setdefault((code, unit), ResultSeries(code, label, unit, []))
        series.values.append(value)


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
