"""Results of one test in one unit over time, each held against its own reference range."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from nodes.tools.fhir.datatypes import Concept, Quantity
from nodes.tools.fhir.moments import Moment
from nodes.tools.fhir.record import Entry
from nodes.tools.fhir.resources import Observation, Range, Result

LOINC = "http://loinc.org"
Side = Literal["below", "above", "within", ""]
"""Where a value stands to its own range; empty where that cannot be said."""

MEANINGS = {
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
CRITICAL = frozenset(("HH", "LL", "AA"))
_SIDES: dict[str, Side] = {
    **dict.fromkeys(("H", "HH", "HU"), "above"),
    **dict.fromkeys(("L", "LL", "LU"), "below"),
    "N": "within",
}


@dataclass(frozen=True)
class Value:
    """One measured value, with what its resource says of it."""

    name: str
    """Of the observation, which a component shares with its siblings."""
    when: Moment
    quantity: Quantity
    ranges: tuple[Range, ...]
    interpretation: tuple[Concept, ...]
    is_preliminary: bool

    @property
    def number(self) -> Decimal:
        assert self.quantity.value is not None, "a value has a number"
        return self.quantity.value

    @property
    def flags(self) -> list[str]:
        """Give the interpretation's codes, or its words."""
        return [concept.code() or concept.words for concept in self.interpretation]

    @property
    def range(self) -> Range | None:
        """Give the one range that stands for everybody; None when there is none, or a choice."""
        return self.ranges[0] if len(self.ranges) == 1 and _is_for_all(self.ranges[0]) else None

    @property
    def side(self) -> Side:
        """Hold the value against its own range, in the same unit only."""
        span = self.range
        ends = [end for end in (span.low, span.high) if end] if span else []
        if not span or self.quantity.comparator or not ends:
            return ""
        if any(end.value is None or end.measure != self.quantity.measure for end in ends):
            return ""
        if span.low and span.low.value is not None and self.number < span.low.value:
            return "below"
        is_above = span.high and span.high.value is not None and self.number > span.high.value
        return "above" if is_above else "within"

    @property
    def is_out(self) -> bool:
        """Say whether the range or the interpretation calls it out of range."""
        told = {_SIDES.get(flag, "") for flag in self.flags}
        abnormal = {"A", "AA"} & set(self.flags)
        return self.side in ("below", "above") or bool(told & {"below", "above"} or abnormal)

    @property
    def is_critical(self) -> bool:
        """Say whether the interpretation calls it critical."""
        return bool(CRITICAL & set(self.flags))

    @property
    def contradicts_itself(self) -> bool:
        """Say whether the interpretation claims another side than the range shows."""
        told = {_SIDES[flag] for flag in self.flags if flag in _SIDES}
        return bool(self.side and told and self.side not in told)


@dataclass(frozen=True)
class Series:
    """Values of one test in one unit, the oldest first."""

    code: str
    title: str
    measure: str
    values: tuple[Value, ...]

    @property
    def last(self) -> Value:
        return self.values[-1]

    @property
    def direction(self) -> str:
        """Compare the last value with the first, and say whether each step went that way."""
        if len(self.values) == 1:
            return "one value"
        if not self.measure:
            return "not compared: no unit is stated"
        if any(value.quantity.comparator for value in self.values):
            return "not compared: a value is only a bound"
        if not all(_is_ordered(one, other) for one, other in pairwise(self.values)):
            return "not compared: the order in time is not certain"
        steps = [other.number - one.number for one, other in pairwise(self.values)]
        change = self.last.number - self.values[0].number
        if not any(steps):
            return "unchanged"
        if not change:
            return "last as first, with changes between"
        word = "rising" if change > 0 else "falling"
        is_steady = all(step * change > 0 for step in steps)
        return word if len(steps) == 1 or is_steady else f"{word}, not at each step"


@dataclass
class Sorted:
    """What the observations of a record come to."""

    series: list[Series] = field(default_factory=list)
    in_words: list[tuple[str, Observation, str]] = field(default_factory=list)
    """Results that are no quantity: the observation's name, itself, its result."""
    uncoded: list[str] = field(default_factory=list)
    undated: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Names of observations without any result, with the reason given."""
    cancelled: list[str] = field(default_factory=list)


def sort_out(observations: Iterable[Entry[Observation]]) -> Sorted:
    """Gather results by LOINC code and unit, those out of range first."""
    found = Sorted()
    values: dict[tuple[str, str], list[Value]] = {}
    titles: dict[str, str] = {}
    for entry in observations:
        if entry.value.status == "cancelled":
            found.cancelled.append(entry.name)
            continue
        for result in _results(entry, found):
            code = result.code.code(LOINC)
            if value := _value(entry, result, code, found):
                titles.setdefault(code, result.code.words)
                values.setdefault((code, value.quantity.measure), []).append(value)
    for (code, measure), held in values.items():
        ordered = tuple(sorted(held, key=_in_time))
        found.series.append(Series(code, titles[code], measure, ordered))
    found.series.sort(key=lambda series: (not series.last.is_out, series.title.lower()))
    return found


def _results(entry: Entry[Observation], found: Sorted) -> Iterator[Result]:
    """Give the results an observation holds; name it where it holds none."""
    observation = entry.value
    held = [
        each for each in (observation, *observation.component) if each.quantity or each.in_words
    ]
    if not held and not observation.members:
        absent = observation.absent or next((c.absent for c in observation.component), None)
        found.empty.append(f"{entry.name}: {absent.words}" if absent else entry.name)
    yield from held


def _value(entry: Entry[Observation], result: Result, code: str, found: Sorted) -> Value | None:
    observation = entry.value
    if result.quantity is None or result.quantity.value is None:
        told = result.in_words
        if told:
            found.in_words.append((entry.name, observation, f"{result.code.titled}: {told}"))
        else:
            found.empty.append(entry.name)
        return None
    if not code:
        found.uncoded.append(f"{entry.name} ({result.code.words or 'unnamed'})")
        return None
    if observation.when is None:
        found.undated.append(f"{entry.name} ({result.code.words}, {result.quantity.shown})")
        return None
    return Value(
        name=entry.name,
        when=observation.when,
        quantity=result.quantity,
        ranges=result.ranges,
        interpretation=result.interpretation,
        is_preliminary=observation.status in ("preliminary", "registered"),
    )


def _is_for_all(span: Range) -> bool:
    """Tell a range for everyone from one for an age, a sex, or another purpose than normal."""
    kind = span.type.code() if span.type else ""
    return kind in ("", "normal") and not span.applies_to and not span.age


def _in_time(value: Value) -> tuple[float, float]:
    return value.when.first.timestamp(), value.when.last.timestamp()


def _is_ordered(one: Value, other: Value) -> bool:
    return one.when.is_before(other.when)
