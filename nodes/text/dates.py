"""Dates and periods in a text, English and German: days, months, quarters, years."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from nodes.limits.patterns import Pattern

_MONTH_WORDS: Final = (
    "january jan januar jänner; february feb februar; march mar märz maerz; april apr; may mai; "
    "june jun juni; july jul juli; august aug; september sep sept; october oct oktober okt; "
    "november nov; december dec dezember dez"
)
MONTHS: Final = {
    word: number
    for number, words in enumerate(_MONTH_WORDS.split("; "), 1)
    for word in words.split()
}
ORDINALS: Final = {"first": 1, "ersten": 1, "second": 2, "zweiten": 2, "third": 3, "fourth": 4}
_MONTH: Final = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_YEAR: Final = (
    r"(?P<year>1[4-9]\d\d|20\d\d|21\d\d)(?![\d%]|[.,:/]\d|\s?(?:%|percent|per cent|prozent))"
)
_DAY: Final = r"(?P<day>\d\d?)"
_FORMS: Final = tuple(
    Pattern(rf"(?<![\w.,/-]){form}", re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)",
        rf"(?P<day>\d\d?)-{_MONTH}-(?P<year>\d{{2}}(?:\d\d)?)(?!\d)",
        r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})(?!\d)",
        r"(?P<first>\d\d?)/(?P<second>\d\d?)/(?P<year>\d{4})(?!\d)",
        rf"(?:(?:the )?{_DAY}(?:st|nd|rd|th|\.)? (?:of )?)?{_MONTH},? {_YEAR}",
        rf"{_MONTH} {_DAY}(?:st|nd|rd|th)?(?:,? {_YEAR})(?!\d)",
        rf"{_MONTH} {_DAY}(?:st|nd|rd|th)?(?![\w.,]\d|\w)",
        rf"(?:the )?{_DAY}(?:st|nd|rd|th|\.)? (?:of )?{_MONTH}",
        rf"{_YEAR}[- ]?q(?P<quarter>[1-4])\b",
        rf"q(?P<quarter>[1-4])(?:[- /]?(?:of )?(?:fy ?)?{_YEAR})?(?!\w)",
        rf"(?P<quarter>[1-4](?=st|nd|rd|th|\.)|first|second|ersten|zweiten|third|fourth)"
        rf"(?:st|nd|rd|th|\.)? (?:quarter|quartal)s?(?: (?:of|in|des|von))?"
        rf"(?: (?:the )?(?:fiscal |calendar )?(?:year |jahres )?{_YEAR})?",
        r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])(?![\d-])",
        rf"(?<=in )(?:the (?:month|spring|summer) of )?{_MONTH}",
        r"(?P<month>january|february|april|june|july|august|september|october|november|december"
        r"|januar|februar|märz|juni|juli|oktober|dezember)\b",
        _YEAR + r"(?!\w)",
    )
)


@dataclass(frozen=True)
class Period:
    """A day, month, quarter or year; what a text leaves out is 0."""

    text: str
    year: int = 0
    month: int = 0
    day: int = 0
    quarter: int = 0
    start: int = 0
    """Its place in the text."""

    @property
    def is_bare_year(self) -> bool:
        """Whether it is four digits, which may be a number too."""
        return self.text == str(self.year)

    def is_within(self, others: Sequence["Period"]) -> bool:
        """Return whether one of others says it, its year perhaps beside another of them."""
        years = {each.year for each in others}
        for other in others:
            quarter = other.quarter or -(-other.month // 3)
            is_same = (
                self.month in (0, other.month)
                and self.day in (0, other.day)
                and self.quarter in (0, quarter)
            )
            has_year = self.year in (0, other.year) or (not other.year and self.year in years)
            if is_same and has_year:
                return True
        return False


def take_periods(text: str) -> tuple[list[Period], str]:
    """Return the periods of a text, and the text with spaces in their place."""
    found = list[Period]()

    def take(match: re.Match[str]) -> str:
        periods = _build(match)
        found.extend(replace(each, start=match.start()) for each in periods)
        return " " * len(match[0]) if periods else match[0]

    taking: Callable[[re.Match[str]], str] = take
    for form in _FORMS:
        text = form.sub(taking, text)
    return sorted(found, key=lambda period: period.start), text


def _build(match: re.Match[str]) -> list[Period]:
    """Return the periods that a match means; of day/month/year both readings."""
    groups = match.groupdict()
    year = int(groups.get("year") or 0)
    if 0 < year < 100:
        year += 2000 if year < 50 else 1900
    if groups.get("first"):
        pairs = {(int(groups["first"]), int(groups["second"]))}
        pairs |= {(second, first) for first, second in pairs}
        return [
            Period(match[0], year, month, day)
            for day, month in sorted(pairs)
            if month <= 12 and day <= 31
        ]
    written = (groups.get("month") or "0").lower()
    month = MONTHS.get(written) or int(written)
    day, word = int(groups.get("day") or 0), (groups.get("quarter") or "0").lower()
    quarter = int(word) if word.isdigit() else ORDINALS[word]
    is_date = month <= 12 and day <= 31
    return [Period(match[0], year, month, day, quarter)] if is_date else []
