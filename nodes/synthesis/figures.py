"""Extracts figures with their units, so that two statements can be compared."""

import re
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS

MAGNITUDES = {
    "k": 1e3, "thousand": 1e3,
    "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6,
    "b": 1e9, "bn": 1e9, "billion": 1e9, "billions": 1e9,
    "tn": 1e12, "trillion": 1e12, "trillions": 1e12,
}  # fmt: skip
CURRENCIES = {
    "$": "usd", "usd": "usd", "dollar": "usd", "dollars": "usd",
    "€": "eur", "eur": "eur", "euro": "eur", "euros": "eur",
    "£": "gbp", "gbp": "gbp", "pound": "gbp", "pounds": "gbp",
}  # fmt: skip
PERCENT_WORDS = {"%", "percent", "per cent"}
APPROXIMATION_WORDS = {
    "about",
    "around",
    "roughly",
    "nearly",
    "almost",
    "approximately",
    "some",
    "over",
    "~",
}
APPROXIMATION_TOLERANCE = 0.05
"""Relative tolerance of a figure that is called approximate."""

_FIGURE = Pattern(
    r"(?P<before>[$€£~]|\b[A-Za-z]+)?\s?(?P<sign>[$€£~])?"
    r"(?<![\w.])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:[\s\-]?(?P<magnitude>thousand|millions?|billions?|trillions?|mio|mn|bn|tn|[kKmMbB])\b)?"
    r"(?:\s?(?P<unit>%|per cent\b|€|£|\$|[A-Za-z]+))?"
)
_YEAR = (
    r"(?<![$€£¥.,])(?:19|20)\d\d(?![.,]\d)(?!\s?%|\s(?:percent|thousand|million|billion|trillion))"
)
_DAY = r"(?:19|20)\d\d-[01]\d-[0-3]\d"
_PERIOD = Pattern(rf"\b(?:{_DAY}|{_YEAR}|[QH][1-4]|FY\d\d(?:\d\d)?)\b")
_REFERENCE = Pattern(
    r"\b(?:clause|section|article|paragraph|page|line|exhibit|schedule|annex)s?\s+\d[\w.()]*",
    re.IGNORECASE,
)
"""A reference such as clause 4.2(a): a number that measures nothing."""
_SIGN = Pattern(r"[~$€£]")
_MARKS = str.maketrans("", "", ",.")


@dataclass(frozen=True)
class Figure:
    """A number in base units, and half the last digit it was written with."""

    value: float
    unit: str
    tolerance: float

    def agrees(self, other: "Figure") -> bool:
        """Return whether both may be the same number, rounded differently."""
        near = max(self.tolerance, other.tolerance)
        return abs(self.value - other.value) <= near * (1 + 1e-9) + 1e-9 * abs(self.value)


def extract_periods(text: str) -> frozenset[str]:
    """Return the days, years, quarters and halves a text names."""
    return frozenset(_PERIOD.findall(text))


def extract_figures(text: str) -> tuple[Figure, ...]:
    """Return the figures of a text, without periods and references."""
    measured = _PERIOD.sub("_", _REFERENCE.sub("_", text))
    # The patterns know digits of a newer Unicode than some versions of Python do.
    found = (m for m in _FIGURE.finditer(measured) if m["number"].translate(_MARKS).isdecimal())
    return tuple(map(_build_figure, found))


def _build_figure(match: re.Match[str]) -> Figure:
    digits = match["number"].replace(",", "")
    scale = MAGNITUDES.get((match["magnitude"] or "").lower(), 1.0)
    before = (match["before"] or "").lower()
    marks = {before, match["sign"] or ""}
    value = float(digits) * scale
    tolerance = 0.5 * scale * 10.0 ** -len(digits.partition(".")[2])
    if marks & APPROXIMATION_WORDS:
        tolerance = max(tolerance, APPROXIMATION_TOLERANCE * value)
    return Figure(value, _read_unit(marks, (match["unit"] or "").lower()), tolerance)


def _read_unit(marks: set[str], after: str) -> str:
    if after in PERCENT_WORDS:
        return "%"
    for mark in (*sorted(marks), after):
        if mark in CURRENCIES:
            return CURRENCIES[mark]
    return "" if after in FUNCTION_WORDS else after.rstrip("s")
