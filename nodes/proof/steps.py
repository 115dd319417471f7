"""Whether a quantity follows from others by one named step of arithmetic."""

from collections.abc import Iterator, Sequence
from itertools import permutations
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
    for step, value, slack in _list_steps(claimed, held):
        if any(is_near(mine, value, claimed.tolerance + slack) for mine in claimed.values):
            return step
    return ""


def _list_steps(claimed: Quantity, known: Sequence[Quantity]) -> Iterator[tuple[str, float, float]]:
    """Yield each step that fits the claimed quantity's unit: its name, value and own tolerance."""
    percents = [each for each in known if each.unit == "%"]
    amounts = [each for each in known if each.unit != "%"]
    if claimed.unit == "%":
        yield from (("complement", 100 - each.scaled, 0.0) for each in percents)
        yield from _list_sums(percents)
        for one, other in permutations(amounts, 2):
            if one.unit == other.unit and other.scaled:
                yield "share", 100 * one.scaled / other.scaled, 0.0
                yield "growth", 100 * (one.scaled - other.scaled) / abs(other.scaled), 0.0
                yield "growth", 100 * (other.scaled - one.scaled) / abs(other.scaled), 0.0
        return
    if claimed.is_ratio or not claimed.unit:
        for one, other in permutations(amounts, 2):
            if one.unit == other.unit and other.scaled:
                yield "ratio", one.scaled / other.scaled, 0.0
        if claimed.is_ratio:
            for each in percents:  # doubled: by 100 percent, or to 200 percent
                yield "ratio", each.scaled / 100, 0.0
                yield "ratio", 1 + each.scaled / 100, 0.0
            return
    same = [
        each for each in amounts if each.unit == claimed.unit or "" in (each.unit, claimed.unit)
    ]
    yield from _list_sums(same)
    for one, other in permutations(amounts, 2):
        if one.unit != other.unit and other.scaled and not claimed.unit:
            yield "rate", one.scaled / other.scaled, 0.0
    for percent in percents:
        for each in same:
            yield "percent of", percent.scaled / 100 * each.scaled, 0.0


def _list_sums(known: Sequence[Quantity]) -> Iterator[tuple[str, float, float]]:
    for one, other in permutations(known, 2):
        yield "difference", one.scaled - other.scaled, 0.0
    for at, one in enumerate(known):
        yield from (("sum", one.scaled + other.scaled, 0.0) for other in known[at + 1 :])
    if len(known) > 2:
        yield "sum", sum(each.scaled for each in known), 0.0
        yield "average", sum(each.scaled for each in known) / len(known), 0.0
