"""Whether a quantity follows from others by one named step of arithmetic."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Final

from nodes.text.figures import Quantity, is_near

MAX_KNOWN: Final = 10
"""Quantities between which steps are tried: with more, chance finds one for any number."""


def name_step(claimed: Quantity, known: Sequence[Quantity]) -> str:
    """Return the step by which a quantity follows from others, such as "growth"; empty if none.

    Steps are the sum, difference, ratio, share, growth and complement. A number below ten is too
    easily hit, so it follows only as a ratio or a percentage, or from numbers of its own unit.
    """
    held = list(dict.fromkeys(each for each in known if each.values))[:MAX_KNOWN]
    for step, value in _list_steps(claimed, held):
        if any(is_near(mine, value, claimed.tolerance) for mine in claimed.values):
            return step
    return ""


def _list_steps(claimed: Quantity, known: Sequence[Quantity]) -> Iterator[tuple[str, float]]:
    """Yield each step that fits the claimed quantity's unit, with its value."""
    percents = [each for each in known if each.unit == "%"]
    amounts = [each for each in known if each.unit != "%"]
    if claimed.unit == "%":
        yield from (("complement", 100 - each.value) for each in percents)
        yield from _list_sums(percents)
        yield from _list_shares(amounts)
    elif claimed.is_ratio:
        yield from _list_ratios(amounts)
        yield from (("ratio", each.value / 100) for each in percents)  # to 200 percent: doubled
        yield from (("ratio", 1 + each.value / 100) for each in percents)
    else:
        same = [each for each in amounts if each.unit in (claimed.unit, "") or not claimed.unit]
        yield from _list_sums(same)
        yield from _list_ratios([] if claimed.unit else amounts)
        for percent in percents:
            yield from (("percent of", percent.value / 100 * each.value) for each in same)


def _list_shares(amounts: Sequence[Quantity]) -> Iterator[tuple[str, float]]:
    for one, other in permutations(amounts, 2):
        if one.unit == other.unit and other.value:
            yield "share", 100 * one.value / other.value
            yield "growth", 100 * (one.value - other.value) / abs(other.value)
            yield "growth", 100 * (other.value - one.value) / abs(other.value)


def _list_ratios(amounts: Sequence[Quantity]) -> Iterator[tuple[str, float]]:
    for one, other in permutations(amounts, 2):
        if other.value:
            yield "ratio", one.value / other.value


def _list_sums(known: Sequence[Quantity]) -> Iterator[tuple[str, float]]:
    yield from (("difference", one.value - other.value) for one, other in permutations(known, 2))
    yield from (("sum", one.value + other.value) for one, other in combinations(known, 2))
    if len(known) > 2:
        total = sum(each.value for each in known)
        yield from (("sum", total), ("average", total / len(known)))
