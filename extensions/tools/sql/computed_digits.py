"""The digits of computed values: as few as tell different values apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

MAX_DIGITS: Final = 12
"""Further digits of a computed value are errors of the arithmetic."""


@dataclass(frozen=True)
class Digits:
    """How many digits a computed value has at least."""

    significant: int
    decimals: int


SUM: Final = Digits(MAX_DIGITS, 2)
QUOTIENT: Final = Digits(4, 2)
PERCENT: Final = Digits(2, 1)


def round_apart(values: Sequence[Any], digits: Digits) -> list[Any]:
    """Return the values of a column, its numbers rounded so that different ones stay different."""
    exact = {_round(value, Digits(MAX_DIGITS, digits.decimals)) for value in values}
    for significant in range(digits.significant, MAX_DIGITS + 1):
        rounded = [_round(value, Digits(significant, digits.decimals)) for value in values]
        if len(set(rounded)) == len(exact):
            break
    return rounded


def _round(value: Any, digits: Digits) -> Any:
    if not isinstance(value, float) or not value or not math.isfinite(value):
        return value
    before_point = math.floor(math.log10(abs(value))) + 1
    return round(value, max(digits.decimals, digits.significant - before_point))
