"""Format amounts of money, prices, percentages, other figures and names of columns for a report."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.text.units import CURRENCIES, SCALES, UNITS

Number = Decimal | Fraction | float | int

_COLUMN: Final = Pattern(
    r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?: (?:19|20)\d\d(?:-\w\w){0,2})?(?![\w(])"
)
_PERIOD: Final = Pattern(r"(?:19|20)\d\d(?:-\w\w){0,2}")
_LINKS: Final = ("per", "cubic", "square")


def format_money(amount: Number) -> str:
    """Return an amount to the cent."""
    return f"{round_exactly(amount, 2):,.2f}"


def format_price(amount: Number) -> str:
    """Return a price with all its decimals, at least two."""
    exact = round_exactly(amount, 6)
    return format_money(amount) if exact == round_exactly(amount, 2) else format_number(amount)


def format_number(number: Number) -> str:
    """Return a number with no more decimals than it has."""
    return f"{round_exactly(number, 6).normalize():,f}"


def format_percent(share: Number, digits: int = 2) -> str:
    """Return a share of one as a percentage, without the percent sign."""
    return f"{round_exactly(share * 100, digits):.{digits}f}"


def format_points(share: Number) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    points = round_exactly(share * 100, 2)
    return f"{points:+.2f}" if points else "0.00"


def round_exactly(number: Number, digits: int) -> Decimal:
    """Round exactly, halves to even."""
    return Decimal(round(Fraction(number) * 10**digits)).scaleb(-digits)


def format_column(name: str) -> str:
    """Return a column's name in words: `market_cap_billion_usd 2024` as `market cap 2024 (billion
    USD)`; a name without underscores as it is."""
    return _COLUMN.sub(lambda found: _join_unit(*_split_column(found[0])), name)


def split_unit(name: str) -> tuple[str, str]:
    """Return a column's name in words and its unit, which is empty where it has none or several."""
    found = list(_COLUMN.finditer(name))
    if len(found) != 1:
        return format_column(name), ""
    words, unit = _split_column(found[0][0])
    return f"{name[: found[0].start()]}{words}{name[found[0].end() :]}", unit


def _join_unit(words: str, unit: str) -> str:
    return f"{words} ({unit})" if unit else words


def _split_column(name: str) -> tuple[str, str]:
    words = name.replace("_", " ").split()
    period = [words.pop()] if _PERIOD.fullmatch(words[-1]) else []
    at = len(words)
    while at > 0 and _is_unit(words[at - 1]):
        at -= 1
    unit = [word.upper() if word in CURRENCIES else word for word in words[at:]]
    if at == 0:
        return " ".join([*unit, *period]), ""
    return " ".join([*words[:at], *period]), " ".join(unit)


def _is_unit(word: str) -> bool:
    """Return whether a word of a column's name is one of a unit; `year` and `m` may be others."""
    dimension, _ = UNITS.get(word, ("", 0))
    is_one = word.endswith("s") if dimension in ("time", "months") else bool(dimension)
    return word in _LINKS or (len(word) > 1 and (word in SCALES or is_one))


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


def read_phrases(texts: str) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of each language by their names, of lines `name: English | German`."""
    lines = texts.strip().replace("|\n  ", "| ").splitlines()
    pairs = [line.partition(": ") for line in lines]
    return {
        language: {name: said.split(" | ")[at] for name, _, said in pairs}
        for at, language in enumerate(("en", "de"))
    }
