"""Whether a quantity follows from others by one named step of arithmetic."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.text.dates import Period
from nodes.text.figures import Quantity, is_near
from nodes.text.units import CURRENCIES

MAX_KNOWN: Final = 10
"""Quantities between which steps are tried: with more, chance finds one for any number."""
MAX_EASY: Final = 20
RATIO: Final = Pattern(
    r"(?i)\b(?:times|fold|\w+fold|ratio|factor|per|each|average|mal|\w+fach|pro|je"
    r"|verhältnis"
    r"|an? (?:second|minute|hour|day|week|month|year)|until|bis)\b|\dx\b"
)
_PERCENT: Final = Pattern(r"(?i)percent|prozent|%")
JOINING: Final = Pattern(
    r"(?i)\b(?:together|total|sum|combined|differ|difference|more|fewer|less|remaining|rest|left"
    r"|zusammen|insgesamt|summe|unterschied|mehr|weniger|übrig)\b"
)
_PER_LONGER: Final = {
    "second": (60, 3600),
    "minute": (60, 1440),
    "hour": (24, 168),
    "day": (7, 365),
    "week": (52,),
    "month": (12,),
    "monat": (12,),
    "tag": (7, 365),
}
_PER_SHORTER: Final = {"year": (12, 52, 365), "jahr": (12,), "day": (24,), "hour": (60,)}


def name_step(claimed: Quantity, known: Sequence[Quantity], text: str) -> str:
    """Return the step by which a quantity follows from others, such as "growth"; empty if none.

    Steps are the sum, difference, ratio, share, growth and complement. Chance hits some easily: a
    ratio or a product follows only where the text names one, a bare whole number up to 20 only
    where it names a sum or a difference.

    Args:
        text: the statement that has the quantity.
    """
    held = list({(each.values, each.unit): each for each in known if each.values}.values())
    is_small = claimed.text.isdigit() and claimed.value <= MAX_EASY and not JOINING.search(text)
    if is_small or (claimed.unit in CURRENCIES and all(k.unit != claimed.unit for k in held)):
        return ""
    has_ratio = bool(RATIO.search(text))
    slack = max(claimed.tolerance, claimed.leeway)
    units = ("", "%") if not claimed.unit and _PERCENT.search(text) else (claimed.unit,)
    for unit in units:  # as in "change in percent: 12.1"
        asked = replace(claimed, unit=unit)
        for step, value in _list_steps(asked, held[:MAX_KNOWN], has_ratio=has_ratio):
            if any(claimed.admits(mine, value, slack) for mine in claimed.values):
                return step
            bare = [mine / claimed.factor for mine in claimed.values]
            if has_ratio and any(is_near(mine, value, 0) for mine in bare):
                return step
    return ""


def _list_steps(
    claimed: Quantity, known: Sequence[Quantity], *, has_ratio: bool
) -> Iterator[tuple[str, float]]:
    """Yield each step that fits the claimed quantity's unit, with its value."""
    ratios = [each for each in known if each.is_ratio]
    percents = [each for each in known if each.unit == "%"]
    amounts = [each for each in known if each.unit != "%" and not each.is_ratio]
    if claimed.unit == "%":
        yield from (("complement", 100 - each.value) for each in percents)
        yield from _list_sums(percents)
        yield from _list_shares(amounts)
    elif claimed.is_ratio:
        for one, other in permutations(amounts, 2):
            if other.value and one.unit == other.unit:
                yield "ratio", one.value / other.value
        yield from (("ratio", each.value / 100) for each in percents)  # to 200 percent: doubled
        yield from (("ratio", 1 + each.value / 100) for each in percents)
    else:
        same = [each for each in amounts if each.unit in (claimed.unit, "") or not claimed.unit]
        yield from _list_sums(same)
        yield from _list_rates(amounts if has_ratio else [])
        if has_ratio and len(same) > 1:
            yield "average", sum(each.value for each in same) / len(same)
        yield from _list_products(amounts if has_ratio else [])
        for part in (*percents, *ratios):
            share = part.value / 100 if part.unit == "%" else part.value
            yield from (("percent of", share * each.value) for each in same)
            yield from (("whole of", each.value / share) for each in same if share)


def _list_rates(amounts: Sequence[Quantity]) -> Iterator[tuple[str, float]]:
    """Yield each amount for one of what another counts."""
    for one, other in permutations(amounts, 2):
        if other.value:
            yield "rate", one.value * other.factor / other.value


def _list_products(amounts: Sequence[Quantity]) -> Iterator[tuple[str, float]]:
    """Yield each amount times a count of others, or times the units of a longer time."""
    for one, other in permutations(amounts, 2):
        if not other.unit:
            yield "product", one.value * other.value
    for each in amounts:
        if each.per:
            yield from (("rate", each.value * number) for number in _PER_LONGER.get(each.per, ()))
            yield from (("rate", each.value / number) for number in _PER_SHORTER.get(each.per, ()))


def list_spans(periods: Sequence[Period]) -> list[Quantity]:
    """Return the years, and the months, between each two of some periods."""
    spans = list[Quantity]()
    for one, other in combinations(periods, 2):
        years = abs(other.year - one.year) if one.year and other.year else 0
        months = abs(12 * (other.year - one.year) + other.month - one.month)
        spans += [Quantity("", (12.0 * years,), "months", 12.0)] if years else []
        spans += [Quantity("", (float(months),), "months")] if one.month and other.month else []
    return spans


def _list_shares(amounts: Sequence[Quantity]) -> Iterator[tuple[str, float]]:
    for one, other in permutations(amounts, 2):
        if (one.unit == other.unit or "" in (one.unit, other.unit)) and other.value:
            if one.unit != other.unit:
                one = replace(one, values=(one.value / one.factor,))
                other = replace(other, values=(other.value / other.factor,))
            yield "share", 100 * one.value / other.value
            yield "growth", 100 * (one.value - other.value) / abs(other.value)
            yield "growth", 100 * (other.value - one.value) / abs(other.value)
            yield "complement", 100 - 100 * one.value / other.value


def _list_sums(known: Sequence[Quantity]) -> Iterator[tuple[str, float]]:
    yield from (("difference", one.value - other.value) for one, other in permutations(known, 2))
    yield from (("sum", one.value + other.value) for one, other in combinations(known, 2))
    if len(known) > 2:
        yield "sum", sum(each.value for each in known)
