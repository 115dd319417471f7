"""Wording to search for, as a lawyer would write it; no regular expressions, which may hang.

`terminat*` is a word with any ending, `shall|will` one or the other, `...` up to 160 characters in
between, `#` a quantity such as `thirty (30) days`. Spaces, line breaks and case do not matter.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, InstanceOf
from text_to_num import text2num  # type: ignore[import-untyped]

from nodes.limits.patterns import Pattern

from .contract_text import Span

_UNITS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_NUMBER_WORD = (
    "(?:seventeen|seventy|seven|sixteen|sixty|six|fourteen|forty|four|eighteen|eighty|eight"
    "|nineteen|ninety|nine|thirteen|thirty|three|fifteen|fifty|five|twelve|twenty|two|eleven|ten"
    "|one|zero|hundred|thousand|million)"
)
_HALF = r"[ \n]++and[ \n]++(?:a|one)[ -]half"
_WORDS = rf"{_NUMBER_WORD}(?:[ \n-]++(?:and[ \n]++)?{_NUMBER_WORD}){{0,9}}(?:{_HALF})?"
_UNIT = r"(?:hours?|days?|weeks?|months?|years?|per\s?cent(?:age)?|%)"
_NUMBER = r"\d{1,3}(?:,\d{3}){1,6}(?:\.\d{1,18})?|\d{1,18}(?:\.\d{1,18})?"
_KIND = r"(?:(?:calendar|business|working|consecutive|full|banking)[ \n]++)?"
_PER = r"(?:\s*+(?:per|a|each)\s++(?P<per>day|month|annum|year)|\s*+(?P<adverb>monthly|annually))?"
QUANTITY = (
    r"(?P<quantity>(?<![\w.$€£])(?=[\w(])"
    rf"(?:(?P<words>{_WORDS})(?:[ \n-]++(?P<early>{_UNIT}))?[ \n-]*+)?"
    rf"(?:(?P<open>\(\s*+)?(?P<digits>(?<![\d.,]){_NUMBER})(?P<sign>\s?%)?\s*+(?(open)\)))?"
    rf"(?(early)|(?(sign)|[ \n-]*+{_KIND}(?P<unit>{_UNIT})(?![a-z])))\)?{_PER})"
)
"""Source of the pattern of a quantity; its groups are read by `parse_quantity`."""
_QUANTITY = Pattern(QUANTITY)
_MONEY = Pattern(
    r"(?:(?:us\s?\$|\$|€|£|usd|eur|gbp)\s?"
    rf"(?:(?:{_NUMBER})(?:\s(?:million|billion|thousand))?\b|\[[*\u25cf• ]+\])"
    rf"|(?<!\d)(?:{_NUMBER})(?:\s(?:million|billion|thousand))?\s"
    r"(?:u\.?s\.? dollars?|dollars?|euros?|pounds sterling))"
)
MAX_QUANTITY_CHARS = 120


@dataclass(frozen=True)
class Quantity:
    """A number with its unit, and its place."""

    start: int
    end: int
    value: float
    """In days, percent, or percent per month."""
    unit: str
    """`days`, `percent`, or `percent per month`."""
    words: float | None = None
    """The number in words, where it is written in words and in figures."""
    digits: float | None = None

    @property
    def is_contradictory(self) -> bool:
        """Return whether the words and the figures of the number differ."""
        return None not in (self.words, self.digits) and self.words != self.digits


def find_quantities(low: str, start: int = 0, end: int | None = None) -> Iterator[Quantity]:
    """Find the durations and percentages of a lower-case text."""
    for found in _QUANTITY.finditer(low, start, len(low) if end is None else end):
        if (quantity := parse_quantity(found)) is not None:
            yield quantity


def match_quantity(low: str, at: int) -> Quantity | None:
    """Parse the quantity that begins at an offset."""
    found = _QUANTITY.match(low, at, min(len(low), at + MAX_QUANTITY_CHARS))
    return parse_quantity(found) if found else None


def find_amounts(low: str) -> list[tuple[int, int]]:
    """Find the sums of money of a lower-case text, including those left blank."""
    return [found.span() for found in _MONEY.finditer(low)]


def parse_quantity(found: re.Match[str]) -> Quantity | None:
    """Return the quantity of a match; None if it has no unit or no number."""
    unit = found["unit"] or found["early"] or found["sign"]
    words = _parse_number_words(found["words"]) if found["words"] else None
    digits = float(found["digits"].replace(",", "")) if found["digits"] else None
    number = words if digits is None else digits
    if not unit or number is None:
        return None
    value, name = _normalize_unit(number, unit.strip(), found["per"] or found["adverb"] or "")
    return Quantity(*found.span("quantity"), value, name, words, digits)


def _parse_number_words(words: str) -> float | None:
    whole = Pattern(_HALF).sub("", words)
    try:
        number = float(text2num(" ".join(whole.replace("-", " ").split()), "en"))
        return number + 0.5 * (whole != words)
    except ValueError:
        return None


def _normalize_unit(number: float, unit: str, per: str) -> tuple[float, str]:
    if unit[0] not in "p%":
        return number * _UNITS[unit.rstrip("s")], "days"
    if not per:
        return number, "percent"
    months = {"day": 1 / 30, "month": 1, "monthly": 1}.get(per, 12)
    return number / months, "percent per month"


MAX_GAPS = 2
MAX_GAP_CHARS = 160
MAX_PHRASE_CHARS = 200
_WORD = Pattern(r"[\w'-]+\*?")
_QUOTE_SIGNS = str.maketrans(
    dict.fromkeys("\u2018\u2019", "'") | dict.fromkeys("\u201c\u201d", '"')
)


@dataclass(frozen=True)
class PhraseMatch:
    """Where a phrase occurs, and the quantity that its `#` matched."""

    start: int
    end: int
    quantity: Quantity | None = None


@dataclass(frozen=True)
class Phrase:
    """Wording to search for."""

    pattern: Pattern
    has_quantity: bool

    def find_matches(
        self, low: str, start: int = 0, end: int | None = None
    ) -> Iterator[PhraseMatch]:
        """Find the phrase in a lower-case text; matches may overlap."""
        while found := self.pattern.search(low, start, len(low) if end is None else end):
            quantity = parse_quantity(found) if self.has_quantity else None
            if quantity or not self.has_quantity:
                yield PhraseMatch(*found.span(), quantity)
            start = found.start() + 1


def parse_phrase(text: str) -> Phrase:
    """Parse a phrase.

    Raises:
        ValueError: it is too long, has too many gaps, or begins with one.
    """
    words = text.translate(_QUOTE_SIGNS).lower().split()
    if len(text) > MAX_PHRASE_CHARS:
        raise ValueError(f"a phrase has at most {MAX_PHRASE_CHARS} characters")
    if not words or words[0] in ("...", "#") or words[-1] == "...":
        raise ValueError("a phrase begins with a word, and does not end with '...'")
    if words.count("...") > MAX_GAPS or words.count("#") > 1:
        raise ValueError(f"a phrase has at most {MAX_GAPS} gaps '...' and one '#'")
    if any(not _strip_wildcard(part) for word in words for part in word.split("|")):
        raise ValueError("'|' stands between two words, '*' at the end of one")
    return Phrase(Pattern(_build_pattern(words)), "#" in words)


def _parse_phrases(value: Any) -> tuple[Phrase, ...]:  # as parsed from YAML
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("write a phrase, or a list of phrases")
    return tuple(map(parse_phrase, texts))


Phrases = Annotated[tuple[InstanceOf[Phrase], ...], BeforeValidator(_parse_phrases)]
"""Phrases as a pydantic field: a text or a list of texts."""


def find_sentence(spans: Sequence[Span], at: int) -> Span | None:
    """Return the sentence that contains an offset."""
    index = bisect_right(spans, (at, 1 << 62)) - 1
    return spans[index] if index >= 0 and spans[index][1] > at else None


def _build_pattern(words: Sequence[str]) -> str:
    pattern, space = "", ""
    for word in words:
        if word == "...":
            pattern, space = rf"{pattern}[\s\S]{{0,{MAX_GAP_CHARS}}}?", ""
        elif word == "#":
            pattern, space = f"{pattern}{space}{QUANTITY}", r"[ '\"s)]{0,3}\s{0,200}+"
        else:
            options = "|".join(map(_build_word_pattern, word.split("|")))
            pattern, space = f"{pattern}{space}(?:{options})", r"\s+"
    return pattern


def _build_word_pattern(word: str) -> str:
    if not _WORD.fullmatch(word):
        return re.escape(word)
    stem = re.escape(_strip_wildcard(word))
    return rf"(?<![\w-]){stem}\w*+" if word.endswith("*") else rf"(?<![\w-]){stem}(?!-?\w)"


def _strip_wildcard(word: str) -> str:
    return word.removesuffix("*") if _WORD.fullmatch(word) or word == "*" else word
