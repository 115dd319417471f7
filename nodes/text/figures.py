"""Quantities in a text: numbers with their scale and unit, in digits or in words.

Words are English or German. A number that can be read in two ways, such as 1.234, has both.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite
from typing import Final

from text_to_num import alpha2digit  # type: ignore[import-untyped]

from nodes.limits.patterns import Pattern
from nodes.text.dates import Period, take_periods

_SCALES: Final = {
    **dict.fromkeys(("k", "thousand", "thousands", "tausend", "tsd"), 1e3),
    **dict.fromkeys(("million", "millions", "mio", "mn", "millionen"), 1e6),
    **dict.fromkeys(("billion", "billions", "bn", "milliarde", "milliarden", "mrd"), 1e9),
    **dict.fromkeys(("trillion", "trillions", "tn", "trn", "billionen"), 1e12),
}
_LETTER_SCALES: Final = {"m": 1e6, "b": 1e9, "t": 1e12}
"""Scales beside a currency, units elsewhere."""
_UNITS: Final[dict[str, tuple[str, float]]] = {
    word: (dimension, float(factor))
    for dimension, units in {
        "%": "1 % percent prozent pct percentage|points pp",
        "usd": "1 $ us$ usd dollar dollars",
        "eur": "1 € eur euro euros",
        "gbp": "1 £ gbp",
        "jpy": "1 ¥ jpy yen",
        "chf": "1 chf francs franken",
        "length": "0.001 mm millimetres millimeters millimeter; 0.01 cm centimetres centimeters "
        "zentimeter; 1 m metre metres meter meters; 1000 km kilometre kilometres kilometer "
        "kilometers; 1609.344 mile miles meilen; 0.3048 ft feet foot; 0.0254 inch inches",
        "mass": "0.000001 mg; 0.001 g gram grams gramm; 1 kg kilogram kilograms kilogramm kilo "
        "kilos; 1000 t tonne tonnes tonnen ton tons; 0.45359237 lb lbs",
        "time": "0.001 ms millisecond milliseconds; 1 s sec second seconds sekunde sekunden; "
        "60 min minute minutes minuten; 3600 h hr hrs hour hours stunde stunden; "
        "86400 day days tag tage tagen; 604800 week weeks woche wochen",
        "months": "1 month months monat monate monaten; 12 year years jahr jahre jahren; "
        "120 decade decades",
        "energy": "1 wh; 1e3 kwh; 1e6 mwh; 1e9 gwh; 1e12 twh",
        "power": "1 w watt watts; 1e3 kw; 1e6 mw megawatt megawatts; 1e9 gw gigawatt gigawatts",
        "bytes": "1 byte bytes; 1e3 kb kilobyte kilobytes; 1e6 mb megabyte megabytes; "
        "1e9 gb gigabyte gigabytes; 1e12 tb terabytes",
        "volume": "0.001 ml; 1 l litre litres liter liters; 3.785411784 gallon gallons",
        "area": "1 m2 sqm; 1e4 ha hectare hectares hektar; 1e6 km2; 4046.8564224 acre acres",
    }.items()
    for group in units.split("; ")
    for factor, *words in [group.split()]
    for word in (each.replace("|", " ") for each in words)
}
CURRENCIES: Final = ("usd", "eur", "gbp", "jpy", "chf")
_FRACTIONS: Final = {
    **dict.fromkeys(("half", "halves", "hälfte", "halbe"), 2),
    **dict.fromkeys(("third", "thirds", "3rd", "3rds", "drittel"), 3),
    **dict.fromkeys(("quarter", "quarters", "viertel", "4th", "4ths"), 4),
    **dict.fromkeys(("fifth", "fifths", "5th", "5ths", "fünftel"), 5),
    **dict.fromkeys(("sixth", "sixths", "6th", "6ths", "sechstel"), 6),
    **dict.fromkeys(("eighth", "eighths", "8th", "8ths", "achtel"), 8),
    **dict.fromkeys(("tenth", "tenths", "10th", "10ths", "zehntel"), 10),
}
_MULTIPLES: Final = {
    **dict.fromkeys(("doubled", "double", "doubling", "twice", "doppelt", "verdoppelt"), 2.0),
    **dict.fromkeys(("tripled", "triple", "threefold", "verdreifacht", "dreifach"), 3.0),
    **dict.fromkeys(("quadrupled", "fourfold", "vervierfacht"), 4.0),
    **dict.fromkeys(("halved", "halbiert"), 0.5),
}
_ABOUT: Final = "about|around|roughly|approximately|some|circa|ca|~|rund|etwa|ungefähr"
_ABOVE: Final = "just over|over|more than|at least|gut|über|mehr als|mindestens"
_BELOW: Final = (
    "just under|under|less than|fewer than|nearly|almost|at most|up to|no more than|knapp|fast|unter"
    "|weniger als|höchstens|bis zu"
)
_LOSS: Final = (
    "fell fall falls fallen falling drop drops dropped decline declines declined decrease "
    "decreases decreased decreasing lower lost loss losses shrank shrunk down below minus negative "
    "deficit reduced reduction cut less sank gesunken rückgang verlust weniger minus niedriger sinkt fiel"
)
FALLS: Final = Pattern(rf"\b(?:{'|'.join(_LOSS.split())})\b", re.IGNORECASE)
"""Words by which a number without a sign is a negative one."""


def _join(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_APPROXIMATOR: Final = rf"(?:\b(?P<about>{_ABOVE}|{_BELOW}|{_ABOUT})\s+)?"
_SCALE: Final = rf"(?P<scale>{_join(_SCALES)})"
_MARKED: Final = Pattern(
    rf"{_APPROXIMATOR}(?:(?P<n>\d+|a|an|one|ein|eine|einem|two|zwei|three|drei)[ -])?"
    rf"(?:of )?(?P<fraction>{_join(_FRACTIONS)})"
    rf"(?:[ -](?:of )?(?:a |einer |an )?1?\s?{_SCALE})?(?!\w)"
    rf"(?! (?:of \d{{4}}|quarter|quartal))"
    rf"|{_APPROXIMATOR.replace('about', 'near')}(?<![\w.])(?P<part>\d+|one|ein(?:er|e)?)"
    r" (?:in|out of|of every|von|aus) (?P<whole>\d+)(?![\w.,]\d|\w)"
    rf"|\b(?P<multiple>{_join(_MULTIPLES)})\b",
    re.IGNORECASE,
)
_NUMBER: Final = Pattern(
    rf"""{_APPROXIMATOR.replace(" ", "[ ]")}(?<![\w.,])
    (?P<sign>(?:(?<![\w)])[-+\u2212]\s?)?)(?P<before>[$€£¥]|US\$|\b(?:USD|EUR|GBP|CHF)\s?)?\s?(?P<inner>[-\u2212]?)
    (?P<number>\d{{1,3}}(?:[,.'\u00a0\u202f\u2009]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?(?:e[+-]?\d+)?|\.\d+)
    (?P<more>(?:[./:]\d+)*)
    (?![\d])(?!(?:st|nd|rd|th)\b)
    (?:[\ \u00a0\u202f\u2009-]?(?P<scale>{_join([*_SCALES, *_LETTER_SCALES])})\.?(?![^\W_]))?
    (?:\)?[\ \u00a0\u202f\u2009-]?(?:U\.?S\.?\s)?(?P<unit>{_join(_UNITS)})(?![^\W\d_]))?""",
    re.VERBOSE | re.IGNORECASE,
)
_LITERAL: Final = Pattern(r"(?<![\w])[^\W\d_]+(?:[-./][^\W\d_]+)*[-.]?\d[\w.-]*(?<![.-])")
"""Names with digits: COVID-19, v2.0, EC2."""
_ABBREVIATED: Final = str.maketrans({"\u2044": "/", "½": " 1/2", "¼": " 1/4", "¾": " 3/4"})
_MASK: Final = "\u2063"
_SCALED: Final = Pattern(
    rf"(?:\d|\bof an?|\bhalf an?|\bhalf|\bquarter|\beiner|\bhalbe) {_SCALE}\b", re.IGNORECASE
)
"""Scales that are no number of their own."""
_TWICE: Final = Pattern(r"\b(\d+) \(\1\)")
"""As in contracts: thirty (30) days."""
MAX_DIGITS: Final = 40
MAX_CHARS: Final = 20_000
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
    start: int = 0

    def equals(self, other: "Quantity") -> bool:
        """Return whether another quantity is this one, as precisely as this one is written."""
        if self.unit and other.unit and self.unit != other.unit:
            return False
        pairs = [(mine, its) for mine in self.values for its in other.values]
        if bool(self.unit) != bool(other.unit):  # one of them has its unit elsewhere, if any
            ratio = self.factor / other.factor
            pairs += [(mine, its * ratio) for mine, its in pairs]
        if (self.unit == "%") != (other.unit == "%"):  # 0.12 is 12 percent
            factor = 100 if self.unit == "%" else 0.01
            pairs += [(mine, its * factor) for mine, its in pairs]
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
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
        text = text.translate(_ABBREVIATED)
    text = _SCALED.sub(lambda match: f"{match[0][:-1]}{_MASK}{match[0][-1]}", text)
    for language in ("en", "de"):
        text = str(alpha2digit(text, language))
    return _TWICE.sub(r"\1", text.replace(_MASK, ""))


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
    """Return what of a text can be checked by value; of a long one only the beginning.

    A whole number below eleven in words, without a unit, is left out: it counts what the writer
    chose.
    """
    cut = text[:MAX_CHARS]
    periods, written = take_periods(write_digits(cut))
    found = list[Quantity]()
    for pattern, build in ((_MARKED, _build_marked), (_LITERAL, _build_literal), (_NUMBER, _build)):
        for match in list(pattern.finditer(written)):
            if (each := build(match)) is not None:
                found.append(replace(each, start=match.start()))
                start, end = match.span()
                written = written[:start] + " " * (end - start) + written[end:]
    kept = (each for each in found if not _is_small_word(each, cut))
    return Figures(tuple(periods), tuple(sorted(kept, key=lambda each: each.start)))


def _is_small_word(quantity: Quantity, text: str) -> bool:
    number = quantity.text.strip()
    is_small = number.isdigit() and int(number) <= 10 and not quantity.unit
    return is_small and not Pattern(rf"(?<!\d){number}(?!\d)").search(text)


def _build_marked(match: re.Match[str]) -> Quantity | None:
    groups = match.groupdict()
    about = groups.get("about") or groups.get("near")
    if word := groups.get("multiple"):
        value = _MULTIPLES[word.lower()]
        return Quantity(match[0], (value,), tolerance=0.05 * value, is_ratio=True)
    if groups.get("part"):
        part = int(groups["part"]) if groups["part"].isdigit() else 1
        value = part / (int(groups["whole"]) or 1)
        if not 0 < value < 1:
            return None
        return _build_ratio(match[0], value, 1.0, bool(about))
    word = groups["fraction"].lower()
    count = (groups.get("n") or "").lower()
    if word[0].isdigit() and not count:
        return None  # an ordinal
    number = (
        int(count)
        if count.isdigit()
        else {"two": 2, "zwei": 2, "three": 3, "drei": 3}.get(count, 1)
    )
    if word in ("quarter", "viertel", "halves") and count in ("", "the", "die"):
        return None  # of a year
    if number >= _FRACTIONS[word]:
        return None
    scale = _SCALES.get((groups.get("scale") or "").lower(), 1.0)
    return _build_ratio(match[0], number / _FRACTIONS[word], scale, bool(about))


def _build_ratio(text: str, value: float, scale: float, is_about: bool) -> Quantity:
    if scale != 1.0:
        slack = ABOUT_TOLERANCE if is_about else FRACTION_TOLERANCE
        return Quantity(text, (value * scale,), tolerance=slack * value * scale)
    slack = ABOUT_TOLERANCE if is_about else FRACTION_TOLERANCE
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
    return Quantity(shown, signed, dimension, factor, tolerance, leeway, _read_side(about))


def _read_side(about: str) -> int:
    return 1 if about in _ABOVE.split("|") else -1 if about in _BELOW.split("|") else 0


def _read_scale_and_unit(groups: dict[str, str | None]) -> tuple[float, str, float]:
    """Return the scale of a number, the dimension of its unit, and the unit's factor."""
    before, unit = (groups.get("before") or "").strip().lower(), (groups.get("unit") or "").lower()
    word = (groups.get("scale") or "").lower()
    dimension, factor = _UNITS.get(unit) or _UNITS.get(before) or ("", 1.0)
    if word in _SCALES:
        return _SCALES[word], dimension, factor
    if word and dimension in CURRENCIES:
        return _LETTER_SCALES[word], dimension, factor
    if word in _UNITS and not dimension:
        return 1.0, *_UNITS[word]
    return 1.0, dimension, factor


def _is_group(digits: str) -> bool:
    """Return whether digits before a mark may be thousands."""
    return 1 <= len(digits) <= 3 and digits[0] != "0"


def _count_decimals(number: str) -> int:
    groups = Pattern(r"[.,'\u00a0\u202f\u2009]").split(number.lower().partition("e")[0])
    if len(groups) == 1 or (len(groups[-1]) == 3 and groups[0] not in ("", "0")):
        return 0
    return len(groups[-1])


def _read_values(number: str) -> Iterator[float]:
    """Yield what a number may mean: 1,234 is a thousand and more, or a little more than one."""
    bare = Pattern(r"['\u00a0\u202f\u2009]").sub("", number)
    marks = [mark for mark in bare if mark in ".,"]
    last = bare.rpartition(marks[-1])[2] if marks else ""
    if len(set(marks)) == 2:
        thousands = marks[0]
        yield float(bare.replace(thousands, "").replace(",", "."))
    elif len(marks) > 1:
        yield float(bare.replace(marks[0], ""))
    elif marks and len(last) == 3 and _is_group(bare.partition(marks[0])[0]):
        readings = (bare.replace(",", "").replace(".", ""), bare.replace(",", "."))
        yield from map(float, readings if marks == [","] else reversed(readings))
    else:
        yield float(bare.replace(",", "."))


def count_year(period: Period) -> Quantity:
    """Return what looks like a year as a number."""
    return Quantity(period.text, (float(period.year),), tolerance=0.5, start=period.start)


def read_column(number: Quantity, column: str) -> Quantity:
    """Return a cell's number with the scale and unit of its column's name, such as usd_bn."""
    words = Pattern(r"[A-Za-zÄÖÜäöüß%$€£]+|m[23]|km2").findall(column.lower())
    scale = next((_SCALES[word] for word in words if word in _SCALES), 1.0)
    dimension, factor = next((_UNITS[word] for word in words if word in _UNITS), ("", 1.0))
    if scale * factor == 1.0 and (number.unit or not dimension):
        return number
    values = (*number.values, *(value * scale * factor for value in number.values))
    return replace(number, values=values, unit=number.unit or dimension)


def is_unit(word: str) -> bool:
    """Return whether a word is a unit, a currency or a scale."""
    plain = word.lower()
    return plain in _UNITS or plain in _SCALES
