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

from nodes.limits.patterns import Pattern

from .noise import Span
from .quantities import QUANTITY, Quantity, parse_quantity

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
