"""Results of one test in one unit over time, each compared with its own reference range."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from .record import RecordEntry
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
