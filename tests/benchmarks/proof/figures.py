"""Finds figures and dates of a text, and tells whether a value may follow from others by one step.

It is used to draw faults that are really false, so it is generous: what it says does not follow
follows by no rounding, scale, sum, difference, product, ratio, percentage or growth.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_MONTH = "|".join(MONTHS)
DATE = re.compile(
    rf"\b(?P<m1>{_MONTH}) (?P<d1>[0-3]?\d), (?P<y1>[12]\d{{3}})\b"
    rf"|\b(?P<d2>[0-3]?\d) (?P<m2>{_MONTH}) (?P<y2>[12]\d{{3}})\b"
    r"|\b(?P<y3>[12]\d{3})-(?P<m3>[01]\d)-(?P<d3>[0-3]\d)\b"
)
NUMBER = re.compile(
    r"(?<![\w.,/:+-])[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w/:]|[.,-]\d)"
    r"|(?<![\w.,/:+-])[$€£]?\d+(?:\.\d+)?(?![\w/:]|[.,-]\d)"
)
"""Not a version such as 3.14.1, a part of a name such as PEP-593, or a section such as 3a."""
ANY_NUMBER = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
WORDS = {
    word: number
    for number, word in enumerate(
        [
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
            *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
            *("eighteen", "nineteen", "twenty"),
        ]
    )
} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
    "once": 1,
    "twice": 2,
    "half": 0.5,
    "third": 3,
    "quarter": 4,
    "first": 1,
    "second": 2,
    "both": 2,
    "fourth": 4,
    "fifth": 5,
    "single": 1,
    "double": 2,
}
TOLERANCE = 0.012


@dataclass(frozen=True)
class Figure:
    """A number in a text, and where it is."""

    surface: str
    start: int
    value: float
    decimals: int


def list_figures(text: str) -> list[Figure]:
    """Return the figures of a text that are no part of a date."""
    dates = [match.span() for match in DATE.finditer(text)]
    return [
        Figure(match[0], match.start(), _read(match[0]), len(match[0].partition(".")[2]))
        for match in NUMBER.finditer(text)
        if not any(start <= match.start() < end for start, end in dates)
    ]


def list_values(text: str) -> set[float]:
    """Return every number that a text may be said to hold, in digits, words or with a scale."""
    values = set[float]()
    for match in ANY_NUMBER.finditer(text):
        value = _read(match[0])
        following = text[match.end() :].split(maxsplit=1)
        word = following[0].strip(".,;)").lower() if following else ""
        values |= {value, value * SCALES.get(word, 1)}
    words = re.findall(r"[a-z]+", text.lower())
    values |= {float(WORDS[word]) for word in words if word in WORDS}
    values |= {
        float(WORDS[tens] + WORDS[ones])
        for tens, ones in pairwise(words)
        if 20 <= WORDS.get(tens, 0) <= 90 and 1 <= WORDS.get(ones, 0) <= 9
    }
    return values


def may_follow(value: float, values: Iterable[float]) -> bool:
    """Return whether a value is one of others, or follows from one or two of them by one step."""
    given = sorted(set(values))[:14]
    return any(_is_near(abs(value), abs(each)) for each in _list_steps(given))


def has_value(value: float, values: Iterable[float]) -> bool:
    """Return whether a value is one of others, rounding and scale aside."""
    return any(_is_near(abs(value), abs(each)) for each in _list_scaled(values))


def _list_steps(values: list[float]) -> Iterator[float]:
    yield from _list_scaled(values)
    yield sum(values)
    for left, right in permutations(values, 2):
        yield from _list_scaled((left + right, left - right, left * right))
        if right:
            share = left / right
            yield from (share, 100 * share, share - 1, 100 * (share - 1), 100 * (1 - share))
    for value in values:
        yield from (100 - value, 1 - value, 2 * value, 3 * value, value / 2, value / 3)


def _list_scaled(values: Iterable[float]) -> Iterator[float]:
    for value in values:
        yield from (value * factor for factor in (1, 100, 0.01, 1e-3, 1e-6, 1e-9, 1e3, 1e6, 1e9))


def _is_near(left: float, right: float) -> bool:
    return abs(left - right) <= TOLERANCE * max(left, right)


def _read(surface: str) -> float:
    return float(surface.replace(",", "").lstrip("$€£"))


def format_number(value: float, decimals: int, *, grouped: bool = True) -> str:
    """Return a number with so many decimals, its thousands grouped or not."""
    return f"{value:,.{decimals}f}" if grouped else f"{value:.{decimals}f}"


def read_date(match: re.Match[str]) -> tuple[int, int, int]:
    """Return year, month and day of a match of `DATE`."""
    groups = match.groupdict()
    if groups["y3"]:
        return int(groups["y3"]), int(groups["m3"]), int(groups["d3"])
    which = "1" if groups["y1"] else "2"
    month = MONTHS.index(groups["m" + which]) + 1
    return int(groups["y" + which]), month, int(groups["d" + which])


def format_date(year: int, month: int, day: int, style: int) -> str:
    """Return a date in one of four ways of writing it."""
    name = MONTHS[month - 1]
    styles = (
        f"{name} {day}, {year}",
        f"{day} {name} {year}",
        f"{year}-{month:02}-{day:02}",
        f"{name[:3]} {day}, {year}",
    )
    return styles[style % len(styles)]
