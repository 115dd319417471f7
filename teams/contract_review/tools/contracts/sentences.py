"""Split legal text into sentences, as spans; a page break does not end a sentence."""

import re
from collections.abc import Iterator
from itertools import pairwise

from nodes.limits.patterns import Pattern

from .noise import Span

_SENTENCE_END = Pattern(r"[.!?][\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])|\n[ \t]*\n\s*(?=[^a-z\s])")
_ABBREVIATION = Pattern(
    r"(?:\b(?:inc|corp|ltd|llc|co|no|nos|sec|secs|art|arts|cl|para|st|ave|blvd|rd|mr|mrs|ms|dr|jr|sr"
    r"|vs|etc|viz|al|approx|ex|exh|fig|dept|est|u\.s|u\.k|e\.g|i\.e)|(?<![a-z])[a-z])\.$",
    re.IGNORECASE,
)
LOOKBACK_CHARS = 12


def split_sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """Return the sentences between two offsets, without surrounding space."""
    ends = list[int]()
    for found in _SENTENCE_END.finditer(text, start, end):
        stop = found.start() + 1
        before = text[max(start, stop - LOOKBACK_CHARS) : stop]
        if found[0][0] == "\n" or not _ABBREVIATION.search(before):
            ends.append(found.end())
    for first, last in pairwise([start, *ends, end]):
        part = text[first:last]
        if part.strip():
            yield first + len(part) - len(part.lstrip()), last - len(part) + len(part.rstrip())
