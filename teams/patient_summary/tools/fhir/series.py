"""Results of one test in one unit over time, each compared with its own reference range."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from .dates import FhirDate, parse_date
from .record import RecordEntry
from .values import (
    JsonObject,
    find_code,
    format_concept,
    format_number,
    format_quantity,
    get_label,
    get_part,
    get_unit,
)

LOINC_SYSTEM = "http://loinc.org"
RangePosition = Literal["below", "above", "within", ""]
"""Position of a value relative to its own range; empty if that is not known."""

FLAG_MEANINGS = {
    "H": "high",
    "HH": "critically high",
    "HU": "significantly high",
    "L": "low",
    "LL": "critically low",
    "LU": "significantly low",
    "N": "normal",
    "A": "abnormal",
    "AA": "critically abnormal",
}
CRITICAL_FLAGS = frozenset(("HH", "LL", "AA"))
_POSITION_BY_FLAG: dict[str, RangePosition] = {
    **dict.fromkeys(("H", "HH", "HU"), "above"),
    **dict.fromkeys(("L", "LL", "LU"), "below"),
    "N": "within",
}


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
        ends = [end for end in (low, high) if end]
        unit = get_unit(self.quantity)
        if not ends or "comparator" in self.quantity:
            return ""
        if any("value" not in end or get_unit(end) != unit for end in ends):
            return ""
        if low and self.number < low["value"]:
            return "below"
        return "above" if high and self.number > high["value"] else "within"

    @property
    def is_out_of_range(self) -> bool:
        """Return whether the range or the interpretation calls it out of range."""
        told = {self.range_position, *(_POSITION_BY_FLAG.get(flag, "") for flag in self.flags)}
        return bool(told & {"below", "above"} or {"A", "AA"} & set(self.flags))

    @property
    def is_critical(self) -> bool:
        """Return whether the interpretation calls it critical."""
        return bool(CRITICAL_FLAGS & set(self.flags))

    @property
    def is_contradictory(self) -> bool:
        """Return whether the interpretation contradicts the range."""
        told = {_POSITION_BY_FLAG[flag] for flag in self.flags if flag in _POSITION_BY_FLAG}
        return bool(self.range_position and told and self.range_position not in told)

    @property
    def when(self) -> str:
        """Return the day, and the time if the resource has one."""
        return self.measured_on.text[:16].replace("T", " ")

    @property
    def explained_flags(self) -> str:
        known = ((flag, FLAG_MEANINGS.get(flag)) for flag in self.flags)
        return ", ".join(f"{flag} ({meaning})" if meaning else flag for flag, meaning in known)

    def __str__(self) -> str:
        return f"{format_quantity(self.quantity)} on {self.when}"


@dataclass(frozen=True)
class ResultSeries:
    """Values of one test in one unit, the oldest first."""

    code: str
    title: str
    unit: str
    values: tuple[MeasuredValue, ...]

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
        if not any(steps):
            return "unchanged"
        if not change:
            return "last as first, with changes between"
        word = "rising" if change > 0 else "falling"
        is_steady = all(step * change > 0 for step in steps)
        return word if len(steps) == 1 or is_steady else f"{word}, not at each step"


@dataclass
class GroupedResults:
    """The grouped results of the observations of a record."""

    series: list[ResultSeries] = field(default_factory=list)
    text_results: list[tuple[str, str]] = field(default_factory=list)
    """Results that are not quantities, each with its observation's name."""
    uncoded: list[str] = field(default_factory=list)
    undated: list[str] = field(default_factory=list)
    without_result: list[str] = field(default_factory=list)
    """Names of observations without any result, with the reason given."""
    cancelled: list[str] = field(default_factory=list)


def group_results(observations: Iterable[RecordEntry]) -> GroupedResults:
    """Group results by LOINC code and unit, those out of range first."""
    found = GroupedResults()
    values: dict[tuple[str, str], list[MeasuredValue]] = {}
    titles: dict[str, str] = {}
    for entry in observations:
        if entry.resource.get("status") == "cancelled":
            found.cancelled.append(entry.name)
            continue
        for result in _list_results(entry, found):
            code = find_code(get_part(result, "code"), LOINC_SYSTEM)
            if value := _build_value(entry, result, code, found):
                titles.setdefault(code, get_label(result["code"]))
                values.setdefault((code, get_unit(value.quantity)), []).append(value)
    for (code, unit), held in values.items():
        held.sort(key=lambda value: (value.measured_on.earliest, value.measured_on.latest))
        found.series.append(ResultSeries(code, titles[code], unit, tuple(held)))
    found.series.sort(
        key=lambda series: (not series.last_value.is_out_of_range, series.title.lower())
    )
    return found


def find_observed_date(observation: JsonObject) -> FhirDate | None:
    """Return when an observation was made."""
    begun = get_part(observation, "effectivePeriod").get("start", "")
    instant = observation.get("effectiveInstant", "")
    return parse_date(observation.get("effectiveDateTime", "") or instant or begun)


def _list_results(entry: RecordEntry, found: GroupedResults) -> Iterator[JsonObject]:
    """Yield the results of an observation; record its name if it has none."""
    parts = [entry.resource, *entry.resource.get("component", [])]
    held = [part for part in parts if "valueQuantity" in part or _format_text_result(part)]
    if not held and "hasMember" not in entry.resource:
        absent = next((label for part in parts if (label := _explain_absence(part))), "")
        found.without_result.append(f"{entry.name}: {absent}" if absent else entry.name)
    yield from held


def _explain_absence(result: JsonObject) -> str:
    return get_label(get_part(result, "dataAbsentReason"))


def _format_text_result(result: JsonObject) -> str:
    """Return a result that is not a quantity; empty if there is none."""
    if "valueCodeableConcept" in result:
        return get_label(result["valueCodeableConcept"])
    if "valueInteger" in result:
        return format_number(result["valueInteger"])
    if "valueBoolean" in result:
        return str(result["valueBoolean"]).lower()
    return str(result.get("valueString", ""))


def _build_value(
    entry: RecordEntry, result: JsonObject, code: str, found: GroupedResults
) -> MeasuredValue | None:
    """Return a result as a value of a series; record what is not one."""
    quantity, concept = get_part(result, "valueQuantity"), get_part(result, "code")
    measured_on = find_observed_date(entry.resource)
    if "value" not in quantity:
        day = measured_on.day if measured_on else "not dated"
        if told := _format_text_result(result):
            found.text_results.append((entry.name, f"{format_concept(concept)}: {told}, {day}"))
        else:
            found.without_result.append(entry.name)
    elif not code:
        found.uncoded.append(f"{entry.name} ({get_label(concept) or 'unnamed'})")
    elif measured_on is None:
        told = f"{get_label(concept)}, {format_quantity(quantity)}"
        found.undated.append(f"{entry.name} ({told})")
    else:
        flags = [find_code(each) or get_label(each) for each in result.get("interpretation", [])]
        status = entry.resource.get("status")
        return MeasuredValue(
            name=entry.name,
            measured_on=measured_on,
            quantity=quantity,
            ranges=result.get("referenceRange", []),
            flags=flags,
            is_preliminary=status in ("preliminary", "registered"),
        )
    return None
