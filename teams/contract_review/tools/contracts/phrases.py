"""Wording to search for, as a lawyer would write it; no regular expressions, which may hang.

`terminat*` is a word with any ending, `shall|will` one or the other, `...` up to 160 characters in
between, `#` a quantity such as `thirty (30) days`. Spaces, line breaks and case do not matter.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, InstanceOf

from nodes.limits.patterns import Pattern

from .noise import Span
from .quantities import Quantity, find_quantities, match_quantity

MAX_GAPS = 2
MAX_GAP_CHARS = 160
MAX_PHRASE_CHARS = 200
MAX_MATCH_CHARS = 2_000
"""Two gaps, and the words with wide spaces between them. A match that may extend to the end of a
contract can take its full length: the library looks ahead there for the phrase's last word."""
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

    anchors: tuple[str, ...]
    """Beginning of the phrase; one of these words is searched first, since that is quick."""
    head: Pattern
    tail: Pattern | None
    """What follows the quantity; None if the phrase has none."""
    text: str = ""
    is_near: bool = True
    """The quantity is directly after the head, not up to 160 characters later."""

    def find_matches(
        self, low: str, start: int = 0, end: int | None = None
    ) -> Iterator[PhraseMatch]:
        """Find the phrase in a lower-case text."""
        stop = len(low) if end is None else end
        for anchor in self.anchors:
            at = low.find(anchor, start, stop)
            while at >= 0:
                if found := self._match_at(low, at, stop):
                    yield found
                at = low.find(anchor, at + 1, stop)

    def _match_at(self, low: str, at: int, stop: int) -> PhraseMatch | None:
        head = self.head.match(low, at, min(stop, at + MAX_MATCH_CHARS))
        if head is None:
            return None
        if self.tail is None:
            return PhraseMatch(at, head.end())
        for quantity in self._find_quantities(low, head.end(), stop):
            end = min(stop, quantity.end + MAX_MATCH_CHARS)
            if tail := self.tail.match(low, quantity.end, end):
                return PhraseMatch(at, tail.end(), quantity)
        return None

    def _find_quantities(self, low: str, at: int, stop: int) -> Iterable[Quantity]:
        if self.is_near:
            found = match_quantity(low, at)
            return [found] if found else []
        return find_quantities(low, at, min(stop, at + MAX_GAP_CHARS))


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
    at = words.index("#") if "#" in words else len(words)
    is_near = words[at - 1] != "..."
    head = _build_pattern(words[: at if is_near else at - 1])
    return Phrase(
        anchors=tuple(dict.fromkeys(_strip_wildcard(part) for part in words[0].split("|"))),
        head=Pattern(head + (r"\s+" if at < len(words) and is_near else "")),
        tail=Pattern(_build_tail_pattern(_build_pattern(words[at + 1 :])))
        if at < len(words)
        else None,
        text=text,
        is_near=is_near,
    )


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


def _build_tail_pattern(tail: str) -> str:
    return rf"[ '\"s)]{{0,3}}\s{{0,200}}+{tail}" if tail else ""


def _build_pattern(words: Sequence[str]) -> str:
    pattern, space = "", ""
    for word in words:
        if word == "...":
            pattern, space = rf"{pattern}[\s\S]{{0,{MAX_GAP_CHARS}}}?", ""
            continue
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
