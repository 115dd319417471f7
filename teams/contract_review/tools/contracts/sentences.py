"""Split legal text into sentences, as spans; a page break does not end a sentence."""

import re
from collections.abc import Iterator

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
    at = start
    for found in _SENTENCE_END.finditer(text, start, end):
        stop = found.start() + 1
        if found[0][0] != "\n" and _ABBREVIATION.search(
            text[max(at, stop - LOOKBACK_CHARS) : stop]
        ):
            continue
        yield from _trim_span(text, at, found.end())
        at = found.end()
    yield from _trim_span(text, at, end)


def _trim_span(text: str, start: int, end: int) -> Iterator[Span]:
    part = text[start:end]
    if part.strip():
        yield start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
