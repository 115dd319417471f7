"""Find what in a filed contract is not the contract: page marks, running heads, contents."""

import re
from collections import Counter
from collections.abc import Iterator

from nodes.limits.patterns import Pattern

Span = tuple[int, int]

MIN_REPEATS = 3
MAX_RUNNING_HEAD_CHARS = 120
MAX_ENTRY_WORDS = 9
MAX_LINE_CHARS = 200
"""A longer line is text and is not searched."""
_PAGE_MARK = Pattern(
    r"^[ \t]*+(?:page\s++)?[-\u2013\u2014~\[(]*+[ \t]*+(?:(?:[A-Z]-)?\d{1,4}|[ivxl]{1,6})[ \t]*+"
    r"(?:(?:of|/)[ \t]*+\d{1,4})?[ \t]*+[-\u2013\u2014~\])]*+[ \t]*+$",
    re.IGNORECASE,
)
_FILING = Pattern(r"^\s*Source:\s.{3,120}\b(?:10-[KQ]|8-K|20-F|S-\d|F-\d|EX-?\d)")
_FILING_TAG = Pattern(
    r"^\s*</?(?:PAGE|TEXT|DOCUMENT|TYPE|SEQUENCE|FILENAME|DESCRIPTION|TABLE|CAPTION|S|C|FN)>"
)
_REDACTION = Pattern(r"^\s*(?:\[?[*\u25cf]+\]?\s*)?confidential treatment\b", re.IGNORECASE)
_LEADERS = Pattern(
    r"(?:(?<!\.)\.{4,}+|(?<! \.)(?: \.){4,}+)[ ]*+(?:[A-Z]-)?(?:\d{1,4}|[ivxl]{1,6})[ ]*+$"
)
_CONTENTS = Pattern(r"^[ \t#*]*(?:table of contents|contents|index)[ \t*:]*$", re.IGNORECASE)
_NUMBER_AT_START = Pattern(
    r"^\s*(?:\(?\w{1,4}[.)]|\d+(?:\.\d+)+|(?:article|section|clause)\s)", re.IGNORECASE
)
_ENTRY_NUMBER = Pattern(
    r"^\s*+(?:(?:article|section|clause)\s*+)?(?:[ivxl]++|[\d.]++)[.:)]?\s", re.IGNORECASE
)
_PAGE_AT_END = Pattern(r"(?<!\s)\s++(?:[A-Z]-)?(?:\d{1,4}|[ivxl]{1,6})\s*+$", re.IGNORECASE)
_SENTENCE_END = (".", ",", ";", ":")


def find_noise(text: str) -> list[Span]:
    """Find spans that are not contract text, in order and without overlap."""
    found, last = list[Span](), 0
    for start, end in sorted(set(_find_noise_lines(text))):
        if end > last:
            found.append((max(start, last), end))
            last = end
    return found


def _find_noise_lines(text: str) -> Iterator[Span]:
    lines = list(_split_lines(text))
    running = _find_running_heads(text, lines)
    short = [span for span in lines if span[1] - span[0] <= MAX_LINE_CHARS]
    leaders = [span for span in short if _LEADERS.search(text[slice(*span)])]
    if len(leaders) >= MIN_REPEATS:
        yield from leaders
    for index, (start, end) in enumerate(lines):
        line = text[start:end]
        if not line.strip() or len(line) > MAX_LINE_CHARS:
            continue
        marks = (_PAGE_MARK, _FILING, _FILING_TAG)
        if any(mark.match(line) for mark in marks) or _normalize_line(line) in running:
            yield start, end
        elif _REDACTION.match(line):
            yield start, _find_paragraph_end(text, lines, index)
        elif _CONTENTS.match(line):
            yield start, _find_contents_end(text, lines, index)


def _split_lines(text: str) -> Iterator[Span]:
    at = 0
    for line in text.split("\n"):
        yield at, at + len(line)
        at += len(line) + 1


def _normalize_line(line: str) -> str:
    return Pattern(r"\d+").sub("#", " ".join(line.split())).casefold()


def _find_running_heads(text: str, lines: list[Span]) -> set[str]:
    """Find page headers and footers: short lines that repeat, except for the page number."""
    counts = Counter[str]()
    for start, end in lines:
        line = text[start:end].strip()
        if not 3 <= len(line) <= MAX_RUNNING_HEAD_CHARS or line.endswith(_SENTENCE_END):
            continue
        if any(map(str.isalpha, line)) and not _NUMBER_AT_START.match(line) and "/s/" not in line:
            counts[_normalize_line(line)] += 1
    return {line for line, count in counts.items() if count >= MIN_REPEATS}


def _find_paragraph_end(text: str, lines: list[Span], index: int) -> int:
    while index + 1 < len(lines) and text[slice(*lines[index + 1])].strip():
        index += 1
    return lines[index][1]


def _find_contents_end(text: str, lines: list[Span], index: int) -> int:
    """Find the end of a table of contents; the body begins where an entry repeats."""
    first, last = "", index
    for at in range(index + 1, len(lines)):
        line = text[slice(*lines[at])].strip()
        if not line:
            continue
        if not (_PAGE_AT_END.search(line) or _is_short(line)) or _is_same_entry(first, line):
            break
        first = first or line
        last = at
    return lines[last][1]


def _is_same_entry(first: str, line: str) -> bool:
    """Return whether a line repeats the first entry of a table of contents."""
    if not first:
        return False
    numbers = [_ENTRY_NUMBER.match(f"{each} ") for each in (first, line)]
    if all(numbers):
        ours, theirs = (_normalize_title(number[0]) for number in numbers if number)
        return ours == theirs
    return _normalize_title(_PAGE_AT_END.sub("", first)) == _normalize_title(line)


def _is_short(line: str) -> bool:
    return len(line.split()) <= MAX_ENTRY_WORDS and not line.endswith((",", ";"))


def _normalize_title(line: str) -> str:
    return Pattern(r"[\W_]+").sub(" ", line).strip().casefold()
