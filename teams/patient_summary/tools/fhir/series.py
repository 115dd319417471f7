"""Results of one test in one unit over time, each compared with its own reference range."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from .datatypes import Concept, FhirQuantity
from .dates import FhirDate
from .record import RecordEntry
from .resources import Observation, ObservationResult, ReferenceRange

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
    quantity: FhirQuantity
    ranges: tuple[ReferenceRange, ...]
    interpretation: tuple[Concept, ...]
    is_preliminary: bool

    @property
    def number(self) -> Decimal:
        assert self.quantity.value is not None, "a value has a number"
        return self.quantity.value

    @property
    def flags(self) -> list[str]:
        """Return the interpretation's codes, or its words."""
        return [concept.find_code() or concept.label for concept in self.interpretation]

    @property
    def reference_range(self) -> ReferenceRange | None:
        """Return the one range that applies to everyone; None if there is none, or several."""
        return (
            self.ranges[0]
            if len(self.ranges) == 1 and _applies_to_everyone(self.ranges[0])
            else None
        )

    @property
    def range_position(self) -> RangePosition:
        """Compare the value with its own range, only if the unit is the same."""
        span = self.reference_range
        ends = [end for end in (span.low, span.high) if end] if span else []
        if not span or self.quantity.comparator or not ends:
            return ""
        if any(end.value is None or end.unit_key != self.quantity.unit_key for end in ends):
            return ""
        if span.low and span.low.value is not None and self.number < span.low.value:
            return "below"
        is_above = span.high and span.high.value is not None and self.number > span.high.value
        return "above" if is_above else "within"

    @property
    def is_out_of_range(self) -> bool:
        """Return whether the range or the interpretation calls it out of range."""
        told = {_POSITION_BY_FLAG.get(flag, "") for flag in self.flags}
        abnormal = {"A", "AA"} & set(self.flags)
        return self.range_position in ("below", "above") or bool(
            told & {"below", "above"} or abnormal
        )

    @property
    def is_critical(self) -> bool:
        """Return whether the interpretation calls it critical."""
        return bool(CRITICAL_FLAGS & set(self.flags))

    @property
    def is_contradictory(self) -> bool:
        """Return whether the interpretation contradicts the range."""
        told = {_POSITION_BY_FLAG[flag] for flag in self.flags if flag in _POSITION_BY_FLAG}
        return bool(self.range_position and told and self.range_position not in told)


@dataclass(frozen=True)
class ResultSeries:
    """Values of one test in one unit, the oldest first."""

    code: str
    title: str
    unit_key: str
    values: tuple[MeasuredValue, ...]

    @property
    def last_value(self) -> MeasuredValue:
        return self.values[-1]

    @property
    def direction(self) -> str:
        """Compare the last value with the first, and check that each step had that direction."""
        if len(self.values) == 1:
            return "one value"
        if not self.unit_key:
            return "not compared: no unit is stated"
        if any(value.quantity.comparator for value in self.values):
            return "not compared: a value is only a bound"
        if not all(_is_earlier(one, other) for one, other in pairwise(self.values)):
            return "not compared: the order in time is not certain"
        steps = [other.number - one.number for one, other in pairwise(self.values)]
        change = self.last_value.number - self.values[0].number
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
    text_results: list[tuple[str, Observation, str]] = field(default_factory=list)
    """Results that are not quantities: the observation's name, itself, its result."""
    uncoded: list[str] = field(default_factory=list)
    undated: list[str] = field(default_factory=list)
    without_result: list[str] = field(default_factory=list)
    """Names of observations without any result, with the reason given."""
    cancelled: list[str] = field(default_factory=list)


def group_results(observations: Iterable[RecordEntry[Observation]]) -> GroupedResults:
    """Group results by LOINC code and unit, those out of range first."""
    found = GroupedResults()
    values: dict[tuple[str, str], list[MeasuredValue]] = {}
    titles: dict[str, str] = {}
    for entry in observations:
        if entry.value.status == "cancelled":
            found.cancelled.append(entry.name)
            continue
        for result in _list_results(entry, found):
            code = result.code.find_code(LOINC_SYSTEM)
            if value := _build_value(entry, result, code, found):
                titles.setdefault(code, result.code.label)
                values.setdefault((code, value.quantity.unit_key), []).append(value)
    for (code, measure), held in values.items():
        ordered = tuple(sorted(held, key=_get_time_key))
        found.series.append(ResultSeries(code, titles[code], measure, ordered))
    found.series.sort(
        key=lambda series: (not series.last_value.is_out_of_range, series.title.lower())
    )
    return found


def _list_results(
    entry: RecordEntry[Observation], found: GroupedResults
) -> Iterator[ObservationResult]:
    """Return the results of an observation; record its name if it has none."""
    observation = entry.value
    held = [
        each for each in (observation, *observation.component) if each.quantity or each.text_value
    ]
    if not held and not observation.members:
        absent = observation.absent or next((c.absent for c in observation.component), None)
        found.without_result.append(f"{entry.name}: {absent.label}" if absent else entry.name)
    yield from held


def _build_value(
    entry: RecordEntry[Observation], result: ObservationResult, code: str, found: GroupedResults
) -> MeasuredValue | None:
    observation = entry.value
    if result.quantity is None or result.quantity.value is None:
        told = result.text_value
        if told:
            found.text_results.append(
                (entry.name, observation, f"{result.code.label_with_code}: {told}")
            )
        else:
            found.without_result.append(entry.name)
        return None
    if not code:
        found.uncoded.append(f"{entry.name} ({result.code.label or 'unnamed'})")
        return None
    if observation.observed_on is None:
        found.undated.append(f"{entry.name} ({result.code.label}, {result.quantity.display_text})")
        return None
    return MeasuredValue(
        name=entry.name,
        measured_on=observation.observed_on,
        quantity=result.quantity,
        ranges=result.ranges,
        interpretation=result.interpretation,
        is_preliminary=observation.status in ("preliminary", "registered"),
    )


def _applies_to_everyone(span: ReferenceRange) -> bool:
    """Return whether a range is for everyone, not for an age, a sex, or a special purpose."""
    kind = span.type.find_code() if span.type else ""
    return kind in ("", "normal") and not span.applies_to and not span.age


def _get_time_key(value: MeasuredValue) -> tuple[float, float]:
    return value.measured_on.earliest.timestamp(), value.measured_on.latest.timestamp()


def _is_earlier(one: MeasuredValue, other: MeasuredValue) -> bool:
    return one.measured_on.is_before(other.measured_on)
