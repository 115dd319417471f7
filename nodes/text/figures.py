"""Quantities in a text: numbers with their scale and unit, in digits or in words.

Words are English or German. A number that can be read in two ways, such as 1.234, has both.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import isfinite
from typing import Final

from text_to_num import alpha2digit  # type: ignore[import-untyped]

from nodes.limits.patterns import Pattern
from nodes.text.dates import Period, take_periods
from nodes.text.units import (
    ABOUT,
    ABOVE,
    BELOW,
    CURRENCIES,
    FRACTIONS,
    LETTER_SCALES,
    LOSS,
    MULTIPLES,
    SCALES,
    UNITS,
    join_words,
)

FALLS: Final = Pattern(LOSS, re.IGNORECASE)
_GERMAN: Final = Pattern(
    r"(?i)\b(?:der|das|und|von|ist|sind|ein|eine|für|mit|auf|zu|mehr|als|bei|dem|aus|nach|wurde|wird"
    r"|waren|kamen)\b"
)
_ENGLISH: Final = Pattern(r"(?i)\b(?:the|of|and|to|is|are|was|were|with|for|has|had|than)\b")
_APPROXIMATOR: Final = rf"(?:\b(?P<about>{ABOVE}|{BELOW}|{ABOUT})\s+)?"
_SCALE: Final = rf"(?P<scale>{join_words(SCALES)})"
_TIMES: Final = (
    "second|minute|hour|day|week|month|quarter|year|sekunde|minute|stunde|tag|woche|monat|jahr"
)
_PER: Final = rf"(?:\s(?:per|an?|pro|je|each|every|im)\s(?P<per>{_TIMES})\b)?"
_UNIT_WORDS: Final = join_words(UNITS)
_N: Final = "1|2|3|4|5|6|7|9|a|an|one|ein|eine|einem|two|zwei|three|drei"
_MARKED: Final = Pattern(
    rf"{_APPROXIMATOR}(?:(?P<n>{_N})[ -])?(?:of )?(?P<fraction>{join_words(FRACTIONS)})"
    rf"(?:[ -]?(?:of )?(?:an? |einer )?1?\s?{_SCALE})?(?!\w)"
    rf"(?:(?: of)? an? (?P<unit>{join_words(UNITS)})\b)?"
    rf"(?! (?:of (?:the year|\d{{4}})|quarter|quartal))"
    rf"|{_APPROXIMATOR.replace('about', 'near')}(?<![\w.])(?P<part>\d+|one|ein(?:er|e)?|two|zwei)"
    r"(?: \w+)? (?:in|out of|of every|von|aus) (?P<whole>\d+)(?![\w.,]\d|\w)"
    rf"|\b(?P<multiple>{join_words(MULTIPLES)})\b"
    r"|(?<![\w.,])(?P<fold>\d+(?:[.,]\d+)?)(?: times|[ -]?fold|x| mal|fach|-mal)\b",
    re.IGNORECASE,
)
_NUMBER: Final = Pattern(
    rf"""{_APPROXIMATOR.replace(" ", "[ ]")}(?<![\w.,])
    (?P<sign>(?:(?<![\w)])[-+\u2212])?)
    (?P<before>[$€£¥]|US\$|\b(?:USD|EUR|GBP|CHF)\s?)?\s?(?P<inner>[-\u2212]?)
    (?P<number>\d{{1,3}}(?:[,.'\u00a0\u202f\u2009]\d{{3}})+(?!\d)(?:[.,]\d+)?
      |\d+(?:[.,]\d+)?(?:e[+-]?\d+)?|\.\d+)
    (?P<more>(?:[./:]\d+)*)
    (?![\d])(?!(?:st|nd|rd|th)\b)
    (?:[\ \u00a0\u202f\u2009-]?(?P<scale>{join_words([*SCALES, *LETTER_SCALES])})\.?(?![^\W_]))?
    (?:\)?[\ \u00a0\u202f\u2009-]?(?:U\.?S\.?\s)?
      (?P<unit>{_UNIT_WORDS})(?![^\W\d_]))?
    {_PER.replace(" ", "[ ]")}""",
    re.VERBOSE | re.IGNORECASE,
)
_LITERAL: Final = Pattern(r"(?<![\w])[^\W\d_]+(?:[-./][^\W\d_]+){0,6}[-.]?\d[\w.-]*(?<![.-])")
"""Names with digits: COVID-19, v2.0, EC2."""
_ABBREVIATED: Final = str.maketrans({"\u2044": "/", "½": " 1/2", "¼": " 1/4", "¾": " 3/4"})
_MASK: Final = "\u2063"
_SCALED: Final = Pattern(
    rf"(?:\d|\bof an?|\bhalf an?|\bhalf|\bquarter|\beiner|\bhalbe) {_SCALE}\b", re.IGNORECASE
)
"""Scales that are no number of their own."""
_TWO: Final = Pattern(r"(?i)\b(?:two|zwei)\b")
_PARTS: Final[dict[str, str]] = {"halb": "0.5", "viertel": "0.25"}
_HALVES: Final = (
    (Pattern(r"(?i)\b(\d+|one|ein) and a half\b"), lambda m: f"{_count(m[1])}.5"),
    (Pattern(r"(?i)\b(?:an?|one) (\w+) and a half\b"), lambda m: f"1.5 {m[1]}s"),
    (Pattern(r"(?i)\b(\d+|ein|zwei|drei|vier|fünf|sechs)einhalb\b"), lambda m: f"{_count(m[1])}.5"),
    (Pattern(r"(?i)\banderthalb\b"), lambda _: "1.5"),
    (
        Pattern(r"(?i)\b(halb|viertel)(million|stunde)\b"),
        lambda m: f"{_PARTS[m[1].lower()]} {m[2]}",
    ),
    (Pattern(r"\b(\d+) \(\1\)"), lambda m: m[1]),  # as in contracts: thirty (30) days
)
_COUNTS: Final = {"ein": 1, "one": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6}
MAX_DIGITS: Final = 40
MAX_CHARS: Final = 20_000
MAX_WORD, MAX_GAP_CHARS = 10, 6
_SMALL: Final = {"two": 2, "zwei": 2, "three": 3, "drei": 3}
FRACTION_TOLERANCE, ABOUT_TOLERANCE = 0.03, 0.1


@dataclass(frozen=True)
class Quantity:
    """A number as a text has it, with every value that it may mean, in base units."""

    text: str
    values: tuple[float, ...]
    unit: str = ""
    """The dimension of a known unit, or a currency; empty for all else."""
    factor: float = 1.0
    """Of its unit, by which the values are in base units."""
    tolerance: float = 0.0
    """Half of the last digit that is written."""
    leeway: float = 0.0
    """What a word such as "about" leaves open."""
    side: int = 0
    """1 where the number is said to be more than that, such as "over 5", -1 where it is less."""
    is_ratio: bool = False
    """A share or a multiple, such as "a third", "one in seven", "doubled"."""
    is_literal: bool = False
    """No number, but a name or reference with digits."""
    is_word: bool = False
    """A small whole number in words: it may count what the writer chose."""
    per: str = ""
    """The unit of time after it, as in "15 litres per minute"."""
    start: int = 0

    def equals(self, other: "Quantity") -> bool:
        """Return whether another quantity is this one, as precisely as this one is written."""
        is_other_unit = self.unit and other.unit and self.unit != other.unit
        if is_other_unit or (self.per and other.per and self.per != other.per):
            return False
        pairs = [(mine, its) for mine in self.values for its in other.values]
        if other.unit == "%" and not self.unit:
            return any(self.admits(mine, its * 0.01, self.tolerance) for mine, its in pairs)
        if bool(self.unit) != bool(other.unit):  # one of them has its unit elsewhere, if any
            ratio = self.factor / other.factor
            pairs = [(mine, its * ratio) for mine, its in pairs]
        if self.unit == "%" and not other.unit:  # 0.12 is 12 percent
            pairs += [(mine, its * 100) for mine, its in pairs]
        slack = self.tolerance
        if not (other.leeway and self.side == other.side):  # both say about as much
            slack = max(slack, self.leeway, other.tolerance if self.is_ratio else 0.0)
        return any(self.admits(mine, its, slack) for mine, its in pairs)

    def admits(self, mine: float, its: float, slack: float) -> bool:
        """Return whether a value is another one, or on the side of it that the words say.

        Args:
            slack: of the first value; another reading of the digits has its share of it.
        """
        if not is_near(mine, its, slack * abs(mine / self.values[0]) if self.values[0] else slack):
            return False
        is_same = is_near(mine, its, 0)
        return not self.side or is_same or (abs(its) > abs(mine)) == (self.side > 0)

    @property
    def value(self) -> float:
        """The most likely of its values."""
        return self.values[0] if self.values else 0.0


def is_near(one: float, other: float, tolerance: float) -> bool:
    """Return whether two numbers differ by no more than a tolerance and what floats lose."""
    return abs(one - other) <= tolerance * (1 + 1e-9) + 1e-9 * max(abs(one), abs(other))


def write_digits(text: str) -> str:
    """Return a text with all digits in ASCII, and numbers in words as digits."""
    if not text.isascii():
        text = "".join(map(_write_digit, text)).translate(_ABBREVIATED)
    text = _SCALED.sub(lambda match: f"{match[0][:-1]}{_MASK}{match[0][-1]}", text)
    for language in ("en", "de"):
        text = str(alpha2digit(text, language))
    text = _TWO.sub("2", text.replace(_MASK, ""))
    for pattern, write in _HALVES:
        text = pattern.sub(write, text)
    return text


def _write_digit(character: str) -> str:
    """Return a digit in ASCII; one of a newer Unicode, which patterns know, is left out."""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return " " if unicodedata.category(character) == "Cn" else character


def is_number_word(word: str) -> bool:
    """Return whether a word is a number, such as Seventy-five."""
    return write_digits(word) != word


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS[word.lower()]


@dataclass(frozen=True)
class Figures:
    """The periods and quantities of a text, each in their order."""

    periods: tuple[Period, ...]
    quantities: tuple[Quantity, ...]

    @property
    def numbers(self) -> list[Quantity]:
        """The quantities that are numbers."""
        return [each for each in self.quantities if each.values]


@lru_cache(maxsize=8192)
def read_figures(text: str) -> Figures:
    """Return what of a text can be checked by value; of a long one only the beginning."""
    cut = text[:MAX_CHARS]
    periods, written = take_periods(write_digits(cut))
    found = list[Quantity]()
    for pattern, build in ((_MARKED, _build_marked), (_LITERAL, _build_literal), (_NUMBER, _build)):
        for match in list(pattern.finditer(written)):
            if (each := build(match)) is not None:
                each = _mark_word(each, cut) if pattern is _NUMBER else each
                found.append(replace(each, start=match.start()))
                start, end = match.span()
                written = written[:start] + " " * (end - start) + written[end:]
    held = _join_durations(found)
    is_german = bool(_GERMAN.search(cut)) and not _ENGLISH.search(cut)
    held = [_choose_reading(each, is_german=is_german) for each in held]
    return Figures(tuple(periods), tuple(sorted(held, key=lambda each: each.start)))


def _choose_reading(quantity: Quantity, *, is_german: bool) -> Quantity:
    """Return a quantity with the readings that its language has; 1.234 has two in English."""
    if len(quantity.values) < 2:
        return quantity
    english, german = quantity.values
    if is_german:
        return replace(quantity, values=(german,))
    return replace(quantity, values=(english,)) if abs(english) > abs(german) else quantity


def _mark_word(quantity: Quantity, text: str) -> Quantity:
    """Return a quantity that says whether it is a small whole number in words."""
    number = quantity.text.partition(" ")[0]
    is_measured = quantity.is_ratio or quantity.unit not in ("", "time", "months")
    is_small = number.isdigit() and int(number) <= MAX_WORD and not is_measured
    has_digits = is_small and Pattern(rf"(?<!\d){number}(?!\d)").search(text)
    return replace(quantity, is_word=True) if is_small and not has_digits else quantity


def _join_durations(found: list[Quantity]) -> list[Quantity]:
    """Return quantities with the sum of two that are one length of time: 5 hours 10 minutes."""
    ordered = sorted(found, key=lambda each: each.start)
    joined = list[Quantity]()
    for one, other in pairwise(ordered):
        is_near = 0 < other.start - one.start - len(one.text) <= MAX_GAP_CHARS
        if one.unit == other.unit == "time" and is_near and one.factor > other.factor:
            values = (one.value + other.value,)
            joined.append(replace(one, values=values, tolerance=other.tolerance))
    return [*ordered, *joined]


def _build_marked(match: re.Match[str]) -> Quantity | None:
    groups = match.groupdict()
    about = groups.get("about") or groups.get("near")
    if word := groups.get("multiple") or groups.get("fold"):
        value = MULTIPLES.get(word.lower()) or float(word.replace(",", "."))
        return Quantity(match[0], (value,), tolerance=0.05 * value, is_ratio=True)
    if part := groups.get("part"):
        value = (int(part) if part.isdigit() else _SMALL.get(part.lower(), 1)) / (
            int(groups["whole"]) or 1
        )
        return _build_ratio(match[0], value, 1.0, bool(about)) if 0 < value < 1 else None
    word, count = groups["fraction"].lower(), (groups.get("n") or "").lower()
    number = int(count) if count.isdigit() else _SMALL.get(count, 1)
    is_ordinal = word[0].isdigit() and not count
    is_of_year = word in ("quarter", "viertel", "halves") and not count
    if is_ordinal or is_of_year or number >= FRACTIONS[word]:
        return None
    scale = SCALES.get((groups.get("scale") or "").lower(), 1.0)
    unit, factor = UNITS.get((groups.get("unit") or "").lower(), ("", 1.0))
    value = number / FRACTIONS[word]
    if unit:
        amount = value * scale * factor
        return Quantity(match[0], (amount,), unit, factor, FRACTION_TOLERANCE * amount)
    return _build_ratio(match[0], value, scale, bool(about))


def _build_ratio(text: str, value: float, scale: float, is_about: bool) -> Quantity:
    slack = ABOUT_TOLERANCE if is_about else FRACTION_TOLERANCE
    if scale != 1.0:
        return Quantity(text, (value * scale,), tolerance=slack * value * scale)
    ratio = 100 * value
    return Quantity(text, (ratio,), "%", tolerance=slack * ratio, is_ratio=True)


def _build_literal(match: re.Match[str]) -> Quantity:
    return Quantity(match[0], (), is_literal=True)


def _build(match: re.Match[str]) -> Quantity | None:
    groups, number = match.groupdict(), match["number"]
    if len(number) > MAX_DIGITS or match["more"]:
        if match["more"].startswith("/") and match["more"].count("/") == 1 and number.isdigit():
            whole = int(match["more"][1:])
            if 0 < int(number) < whole:
                return _build_ratio(f"{number}{match['more']}", int(number) / whole, 1.0, False)
        return Quantity(f"{number}{match['more']}", (), is_literal=True)
    values = [value for value in _read_values(number) if isfinite(value)]
    if not values:
        return Quantity(number, (), is_literal=True)
    scale, dimension, factor = _read_scale_and_unit(groups)
    sign = -1 if "-" in f"{match['sign']}{match['inner']}".replace("\u2212", "-") else 1
    total = scale * factor
    tolerance = 0.5 * total * 10.0 ** -_count_decimals(number)
    if number.isdigit() and len(number) < 2 and scale == 1:
        tolerance = 0.0
    about = (groups.get("about") or "").strip().lower()
    leeway = ABOUT_TOLERANCE * abs(values[0] * total) if about else 0.0
    shown = " ".join(match[0].split())
    if about:
        shown = shown[len(about) :].strip()
    signed = tuple(sign * value * total for value in values)
    return Quantity(
        shown,
        signed,
        dimension,
        factor,
        tolerance,
        leeway,
        1 if about in ABOVE.split("|") else -1 if about in BELOW.split("|") else 0,
        per=match["per"] or "",
    )


def _read_scale_and_unit(groups: dict[str, str | None]) -> tuple[float, str, float]:
    """Return the scale of a number, the dimension of its unit, and the unit's factor."""
    before, unit = (groups.get("before") or "").strip().lower(), (groups.get("unit") or "").lower()
    word = (groups.get("scale") or "").lower()
    dimension, factor = UNITS.get(unit) or UNITS.get(before) or ("", 1.0)
    if word in SCALES:
        return SCALES[word], dimension, factor
    if word and dimension in CURRENCIES:
        return LETTER_SCALES[word], dimension, factor
    if word in UNITS and not dimension:
        return 1.0, *UNITS[word]
    return 1.0, dimension, factor


def _count_decimals(number: str) -> int:
    groups = Pattern(r"[.,'\u00a0\u202f\u2009]").split(number.lower().partition("e")[0])
    if len(groups) == 1 or (len(groups[-1]) == 3 and groups[0] not in ("", "0")):
        return 0
    return len(groups[-1])


def _read_values(number: str) -> Iterator[float]:
    """Yield what a number may mean: 1,234 is a thousand and more, or a little more than one."""
    bare = Pattern(r"['\u00a0\u202f\u2009]").sub("", number)
    marks = [mark for mark in bare if mark in ".,"]
    first, last = (
        (bare.partition(marks[0])[0], bare.rpartition(marks[-1])[2]) if marks else ("", "")
    )
    if len(set(marks)) == 2:
        thousands = marks[0]
        yield float(bare.replace(thousands, "").replace(",", "."))
    elif len(marks) > 1:
        yield float(bare.replace(marks[0], ""))
    elif len(last) == 3 and 1 <= len(first) <= 3 and first[0] != "0":  # it may be thousands
        yield from (float(bare.replace(",", "")), float(bare.replace(".", "").replace(",", ".")))
    else:
        yield float(bare.replace(",", "."))


def count_year(period: Period) -> Quantity:
    """Return what looks like a year as a number."""
    return Quantity(period.text, (float(period.year),), tolerance=0.5, start=period.start)


def read_column(number: Quantity, column: str) -> Quantity:
    """Return a cell's number with the scale and unit of its column's name, such as usd_bn."""
    words = Pattern(r"[A-Za-zÄÖÜäöüß%$€£]+|m[23]|km2").findall(column.lower())
    scale = next((SCALES[word] for word in words if word in SCALES), 1.0)
    dimension, factor = next((UNITS[word] for word in words if word in UNITS), ("", 1.0))
    if number.unit or (scale == factor == 1.0 and not dimension):
        return number
    values = tuple(value * factor for value in number.values)
    scaled = tuple(value * scale for value in values) if scale != 1.0 else ()
    slack = number.tolerance * factor
    return replace(number, values=values + scaled, unit=dimension, factor=factor, tolerance=slack)


def is_unit(word: str) -> bool:
    """Return whether a word is a unit, a currency or a scale."""
    plain = word.lower()
    return plain in UNITS or plain in SCALES
