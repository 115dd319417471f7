"""Find the figures in a text, so that two ways to write one number are equal."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from nodes.limits.patterns import Pattern

SCALES = {
    **dict.fromkeys(("k", "thousand", "thousands"), 3),
    **dict.fromkeys(("m", "mn", "mio", "million", "millions"), 6),
    **dict.fromkeys(("b", "bn", "billion", "billions"), 9),
    **dict.fromkeys(("t", "tn", "trn", "trillion", "trillions"), 12),
}
_PERCENT = frozenset({"%", "percent", "pct", "per cent", "percentage points", "pp"})
_UNITS = "|".join(sorted((re.escape(unit) for unit in (*SCALES, *_PERCENT)), key=len, reverse=True))
_FIGURE = Pattern(
    rf"""(?<![\w.])                                    # not inside a word or a longer number
    (?P<sign>(?:(?<![\w)])[-+\u2212])?)
    (?:[$€£¥]|US\$|USD|EUR|GBP)?\s?
    (?P<number>\d{{1,3}}(?:[,'\u00a0\u202f\u2009]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
    (?:[\ \u00a0\u202f-]?(?P<unit>{_UNITS})(?![^\W\d_]))?
    (?![\d])""",
    re.VERBOSE | re.IGNORECASE,
)
_SCALE_HINT = Pattern(
    r"(?:\b|_)(thousand|million|billion|trillion)s?(?:\b|_)"
    r"|(?:\b|_)(k|mn?|bn?|tn?|mio)_?(?:usd|eur|gbp|\$)(?:\b|_)"
    r"|(?:usd|eur|gbp|\$)_?(k|mn?|bn?|tn?|mio)(?:\b|_)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Figure:
    """A number as written in a text, and its value."""

    text: str
    mantissa: Decimal
    """The digits as written, unit not applied."""
    scale: int = 0
    """Power of ten that the unit means."""
    is_percent: bool = False

    @property
    def value(self) -> Decimal:
        """Return the mantissa with its unit applied; a percentage stays a percentage."""
        return self.mantissa.scaleb(self.scale)

    @property
    def is_count(self) -> bool:
        """Return whether it is a bare whole number below ten, a count rather than a measure."""
        bare = not self.scale and not self.is_percent and self.text.isdigit()
        return bare and self.mantissa < 10


def find_figures(text: str) -> list[Figure]:
    """Return the numbers of a text, in order; none inside a word such as Q3 or EC2."""
    return [_build_figure(found) for found in _FIGURE.finditer(text)]


def find_scale_hints(text: str) -> frozenset[int]:
    """Return the scales that a table's heading may define for its bare numbers, as in `usd_bn`."""
    words = (next(filter(None, found)) for found in _SCALE_HINT.findall(text))
    return frozenset(SCALES[word.lower()] for word in words)


def is_among(claimed: Figure, found: Iterable[Figure], hints: frozenset[int]) -> bool:
    """Return whether a figure is among others, rounded as the claim rounds it."""
    return any(_is_same_value(claimed, other, hints) for other in found)


def _build_figure(found: re.Match[str]) -> Figure:
    unit = (found["unit"] or "").lower()
    digits = Pattern(r"[,'\u00a0\u202f\u2009]").sub("", found["number"])
    mantissa = Decimal(digits)
    if found["sign"] in ("-", "\u2212"):
        mantissa = -mantissa
    shown = " ".join(found[0].split())
    return Figure(shown, mantissa, SCALES.get(unit, 0), unit in _PERCENT)


def _is_same_value(claimed: Figure, other: Figure, hints: frozenset[int]) -> bool:
    if _rounds_to(claimed, other.value):
        return True
    if claimed.is_percent and not other.is_percent:
        return _rounds_to(claimed, other.value.scaleb(2))
    if other.is_percent and not claimed.is_percent:
        return _rounds_to(claimed, other.value.scaleb(-2))
    bare = not other.scale and not other.is_percent
    return bare and any(_rounds_to(claimed, other.value.scaleb(hint)) for hint in hints)


def _rounds_to(claimed: Figure, value: Decimal) -> bool:
    """Compare sizes; the sign is left to words such as `fell`, so it is not compared."""
    target, value = abs(claimed.value), abs(value)
    if target == value:
        return True
    digits = claimed.mantissa.as_tuple()
    if len(digits.digits) < 2 or value.is_zero():
        return False
    exponent = digits.exponent
    assert isinstance(exponent, int), "a parsed number is finite"
    step = Decimal(1).scaleb(exponent + claimed.scale)
    return abs(value - target) * 2 <= step and (exponent < 0 or claimed.scale > 0)
