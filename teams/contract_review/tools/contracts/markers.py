"""Find where a clause may begin: numbers and letters of contracts, at line starts or within lines.

Filed contracts often have all lines of a page joined, so long lines are searched inside.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

from .headings import match_heading

_LONG_LINE = Pattern(r"[^\n]{300,}+")
LOOKBACK_CHARS = 30
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
_MARK = r"""(?:
    (?:ARTICLE|Article)[ ]+(?P<article>[IVXL]{1,7}|\d{1,3})(?!\w)[.:)]?
  | (?:SECTION|Section|CLAUSE|Clause|Sec\.|§)[ ]*(?P<section>\d{1,3}(?:\.\d{1,3}){0,3})[.:)]?
  | (?P<decimal>\d{1,3}(?:\.\d{1,3}){0,4})(?P<stop>[.)]?)
  | (?P<open>\()?(?P<enclosed>[a-z]{1,5}|[A-Z]{1,2}|\d{1,2})\)
  | (?P<dotted>[A-Z]|[IVX]{1,5}|[a-z])\.
)(?=\s|["'\[])"""
_MARK_AT_LINE_START = Pattern(rf"^[ #>*_]*+(?P<mark>{_MARK})", re.VERBOSE | re.MULTILINE)
_MARK_AFTER_HEADING = Pattern(rf"(?P<mark>{_MARK})", re.VERBOSE)
_MARK_INSIDE_LINE = Pattern(
    rf"(?:(?<=[.:)\]\"])[ ]|(?<![ ])[ ]{{2,}}+)(?P<mark>{_MARK})", re.VERBOSE
)
_REFERENCE_AFTER = Pattern(r"\s{0,200}+(?:(?:and|or|of|above|below|hereof|through|to)\b|[,;)])")
_REFERENCE_BEFORE = Pattern(
    r"(?<![;,]\s{0,3})\b(?:no|nos|section|sections|sec|secs|article|articles|clause|clauses|exhibit|schedule|and|or"
    r"|paragraph|box|of|to|in|by|with|under|the|this|a|an|as)\.?\s*$",
    re.IGNORECASE,
)
_CAPITAL = Pattern(r"\s{0,200}+[A-Z\[\"']")


@dataclass(frozen=True)
class Marker:
    """A number or letter that may begin a clause."""

    start: int
    end: int
    """Offset after the marker and the space behind it."""
    label: str
    """As written in the contract, without closing dots: `9`, `4.2`, `(a)`, `A`."""
    interpretations: tuple[tuple[str, tuple[int, ...]], ...]
    """Style and ordinals; `(i)` may be a letter or a roman number."""
    is_inside: bool
    """Whether it is not at the start of a line."""
    heading: str = ""
    heading_end: int = 0


def find_markers(text: str) -> list[Marker]:
    """Find possible starts of clauses; the sequence decides which of them are real."""
    found: dict[int, Marker] = {}
    for match in _MARK_AT_LINE_START.finditer(text):
        if _is_clause_at_line_start(text, match):
            found[match.start("mark")] = _build_marker(text, match, is_inside=False)
    for line in _LONG_LINE.finditer(text):
        for match in _MARK_INSIDE_LINE.finditer(text, *line.span()):
            at = match.start("mark")
            if at not in found and _is_clause_inside_line(text, match):
                found[at] = _build_marker(text, match, is_inside=True)
    for at in [marker.heading_end for marker in found.values() if marker.heading]:
        behind = _MARK_AFTER_HEADING.match(text, at)
        if behind and at not in found:
            found[at] = _build_marker(text, behind, is_inside=True)
    return [found[at] for at in sorted(found) if found[at].interpretations]


def _build_marker(text: str, match: re.Match[str], *, is_inside: bool) -> Marker:
    end = match.end("mark")
    end += len(text[end : end + 200]) - len(text[end : end + 200].lstrip())
    name, stop = match_heading(text, end)
    label = match["article"] or match["section"] or match["decimal"] or match["dotted"]
    return Marker(
        start=match.start("mark"),
        end=end,
        label=label or f"({match['enclosed']})",
        interpretations=_list_interpretations(match),
        is_inside=is_inside,
        heading=name,
        heading_end=stop,
    )


def _is_clause_at_line_start(text: str, match: re.Match[str]) -> bool:
    end = match.end("mark")
    if not match["enclosed"] and text[end : end + 80].lstrip()[:1].islower():
        return False
    if match["decimal"] and not match["stop"] and "." not in match["decimal"]:
        return bool(match_heading(text, end + 1)[0])
    return not _is_referred_to(text, match)


def _is_clause_inside_line(text: str, match: re.Match[str]) -> bool:
    """Return whether a marker in running text is followed by a capital and not referred to."""
    if match["dotted"] or match["article"] or _is_referred_to(text, match):
        return False
    is_apart = match[0].startswith("  ")
    if match["decimal"] and not match["stop"]:
        return is_apart and match_heading(text, match.end("mark") + 1)[0].isupper()
    return is_apart or bool(_CAPITAL.match(text, match.end("mark")))


def _is_referred_to(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - LOOKBACK_CHARS) : match.start()]
    return bool(_REFERENCE_BEFORE.search(before) or _REFERENCE_AFTER.match(text, match.end("mark")))


def _list_interpretations(match: re.Match[str]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    if word := match["article"]:
        return (("article", (_parse_ordinal(word),)),)
    if number := match["section"] or match["decimal"]:
        parts = tuple(int(part) for part in number.split("."))
        is_listed = match["stop"] == ")" and len(parts) == 1
        return (("1)" if is_listed else f"decimal{len(parts)}", parts),)
    letters = match["enclosed"] or match["dotted"]
    form = "{}." if match["dotted"] else "({})" if match["open"] else "{})"
    return tuple((form.format(style), (value,)) for style, value in _list_values(letters))


def _list_values(letters: str) -> Iterator[tuple[str, int]]:
    """Return every possible reading of a list marker; the letters a, A, i and I name the styles."""
    if letters.isdigit():
        yield "1", int(letters)
        return
    low = letters.lower()
    if len(set(low)) == 1 and len(low) <= 2:
        yield "aA"[letters.isupper()], ord(low[0]) - 96 + 26 * (len(low) - 1)
    if set(low) <= _ROMAN.keys():
        yield "iI"[letters.isupper()], _parse_roman(low)


def _parse_ordinal(word: str) -> int:
    return int(word) if word.isdigit() else _parse_roman(word.lower())


def _parse_roman(low: str) -> int:
    values = [_ROMAN[letter] for letter in low]
    return sum(
        -value if value < max(values[at:], default=0) else value for at, value in enumerate(values)
    )
