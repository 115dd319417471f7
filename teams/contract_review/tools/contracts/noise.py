"""Find what in a filed contract is not the contract: page marks, running heads, contents."""

import re
from collections import Counter

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
