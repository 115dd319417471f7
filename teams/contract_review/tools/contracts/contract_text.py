"""A contract's text as written and as searched, with the same offsets in both; its sentences."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from nodes.limits.patterns import Pattern

Span = tuple[int, int]

MIN_REPEATS = 3
MAX_RUNNING_HEAD_CHARS = 120
MAX_ENTRY_WORDS = 9
"""A longer line ends a table of contents."""
MAX_LINE_CHARS = 200
"""A longer line is text and is not searched."""
_NOISE_LINE = Pattern(
    r"^[ \t]*+(?:page\s++)?[-\u2013\u2014~\[(]*+[ \t]*+(?:(?:[A-Z]-)?\d{1,4}|[ivxl]{1,6})[ \t]*+"
    r"(?:(?:of|/)[ \t]*+\d{1,4})?[ \t]*+[-\u2013\u2014~\])]*+[ \t]*+$"
    r"|^[ \t]*+</?[A-Z]{1,12}>"
    r"|^[ \t]*+(?:(?:by|name|title|its):?[ \t]*+_{3}|_{12})",
    re.IGNORECASE,
)
"""A page number, a tag of a filing, or a line to sign on."""
_CONTENTS = Pattern(r"^[ \t#*]*(?:table of contents|contents|index)[ \t*:]*$", re.IGNORECASE)
_NUMBER_AT_START = Pattern(
    r"^\s*(?:\(?\w{1,4}[.)]|\d+(?:\.\d+)+|(?:article|section|clause)\s)", re.IGNORECASE
)


def find_noise(text: str) -> list[Span]:
    """Find lines that are not contract text, in order."""
    lines = text.split("\n")
    running = _find_running_heads(lines)
    found, at, is_contents = list[Span](), 0, False
    for line in lines:
        if line.strip() and len(line) <= MAX_LINE_CHARS:
            is_contents = is_contents or bool(_CONTENTS.match(line))
            is_contents = is_contents and _is_entry(line)
            if is_contents or _NOISE_LINE.match(line) or _normalize_line(line) in running:
                found.append((at, at + len(line)))
        elif line.strip():
            is_contents = False
        at += len(line) + 1
    return found


def _is_entry(line: str) -> bool:
    """Return whether a line may be an entry of a table of contents."""
    return len(line.split()) <= MAX_ENTRY_WORDS and not line.rstrip().endswith((".", ",", ";"))


def _normalize_line(line: str) -> str:
    return Pattern(r"\d+").sub("#", " ".join(line.split())).casefold()


def _find_running_heads(lines: list[str]) -> set[str]:
    """Find page headers and footers: short lines that repeat, except for the page number."""
    counts = Counter(
        _normalize_line(line)
        for line in map(str.strip, lines)
        if 3 <= len(line) <= MAX_RUNNING_HEAD_CHARS
        and any(map(str.isalpha, line))
        and not line.endswith((".", ",", ";", ":"))
        and not _NUMBER_AT_START.match(line)
        and "/s/" not in line
    )
    return {line for line, count in counts.items() if count >= MIN_REPEATS}


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


MAX_CHARS = 2_000_000
_SIGN_REPLACEMENTS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u2032`\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\t", " ")
    | dict.fromkeys("\f\v\r\x85\u2028\u2029", "\n")
)


@dataclass(frozen=True)
class ContractText:
    """A text, and its normalized form: offsets in one are offsets in the other."""

    raw: str

    @cached_property
    def clean(self) -> str:
        """Return the text with one kind of quote, dash and space, and noise replaced by spaces."""
        text = self.raw.translate(_SIGN_REPLACEMENTS)
        parts, at = list[str](), 0
        for start, end in find_noise(text):
            parts += [text[at:start], " " * (end - start)]
            at = end
        return "".join([*parts, text[at:]])

    @cached_property
    def lowercase(self) -> str:
        """Return the clean text in lower case; a letter that would grow longer is kept."""
        return "".join(low if len(low := c.lower()) == 1 else c for c in self.clean)

    @cached_property
    def _line_breaks(self) -> list[int]:
        return [at for at, char in enumerate(self.raw) if char == "\n"]

    def find_line_number(self, at: int) -> int:
        """Return the number of the line that contains an offset, from 1."""
        return bisect_right(self._line_breaks, at - 1) + 1

    def trim_span(self, start: int, end: int) -> Span:
        """Remove the spaces at both ends of a span."""
        text = self.clean[start:end]
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())

    def format_on_one_line(self, start: int, end: int) -> str:
        """Return a span's words on one line, for display."""
        return " ".join(self.raw[start:end].split())
