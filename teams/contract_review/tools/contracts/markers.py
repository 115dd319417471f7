"""Find where a clause may begin: numbers and letters of contracts, at line starts or within lines.

Filed contracts often have all lines of a page joined, so long lines are searched inside.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

from .headings import match_heading

MIN_LONG_LINE_CHARS = 300
MIN_WRAPPED_CHARS = 60
"""A line of this length may end at the margin, in the middle of a sentence."""
LOOKBACK_CHARS = 300
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
_NUMBER_WORDS = "ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN|ELEVEN|TWELVE"
_MARK = rf"""(?:
    (?:ARTICLE|Article)[ ]+(?P<article>[IVXL]{{1,7}}|\d{{1,3}}|{_NUMBER_WORDS})(?!\w)[.:)]?
  | (?:SECTION|Section|CLAUSE|Clause|Sec\.|§)[ ]*(?P<section>\d{{1,3}}(?:\.\d{{1,3}}){{0,3}})[.:)]?
  | (?P<decimal>\d{{1,3}}(?:\.\d{{1,3}}){{0,4}})(?P<stop>[.)]?)
  | (?P<open>\()?(?P<enclosed>[a-z]{{1,5}}|[A-Z]{{1,2}}|\d{{1,2}})\)
  | (?P<dotted>[A-Z]|[IVX]{{1,5}}|[a-z])\.
)(?=\s|["'\[])"""
_MARK_AT_LINE_START = Pattern(rf"^[ #>*_]*+(?P<mark>{_MARK})", re.VERBOSE | re.MULTILINE)
_MARK_AFTER_HEADING = Pattern(rf"(?P<mark>{_MARK})", re.VERBOSE)
_MARK_INSIDE_LINE = Pattern(
    rf"(?:(?<=[.:;)\]\"])[ ]|(?<![ ])[ ]{{2,}}+)(?P<mark>{_MARK})", re.VERBOSE
)
_REFERENCE_AFTER = Pattern(r"(?:and|or|of|above|below|hereof|through|to)\b|[,;)]")
_REFERENCE_BEFORE = Pattern(
    r"\b(?:no|nos|section|sections|sec|secs|article|articles|clause|clauses|exhibit|schedule|and|or"
    r"|paragraph|box|of|to|in|by|with|under|the|this|a|an|as)\.?\s*$",
    re.IGNORECASE,
)
_LIST_ITEM_END = Pattern(r"[;,]\s*(?:and|or|and/or)?$")


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
    indent: int
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
    for start, end in _find_long_lines(text):
        for match in _MARK_INSIDE_LINE.finditer(text, start, end):
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
        indent=match.start("mark") - (text.rfind("\n", 0, match.start("mark")) + 1),
        is_inside=is_inside,
        heading=name,
        heading_end=stop,
    )


def _is_clause_at_line_start(text: str, match: re.Match[str]) -> bool:
    after = text[match.end("mark") : match.end("mark") + 80]
    if _REFERENCE_AFTER.match(after.lstrip()) or (
        not match["enclosed"] and _get_first_character(after).islower()
    ):
        return False
    if match["decimal"] and not match["stop"] and "." not in match["decimal"]:
        return bool(match_heading(text, match.end("mark") + 1)[0])
    before = text[max(0, match.start() - LOOKBACK_CHARS) : match.start()].rstrip(" ")
    last = before.removesuffix("\n").rpartition("\n")[2].rstrip()
    if not last or _LIST_ITEM_END.search(last):
        return True
    is_wrapped = len(last) >= MIN_WRAPPED_CHARS and (last[-1].islower() or last[-1] == ",")
    return not is_wrapped and not _REFERENCE_BEFORE.search(last)


def _is_clause_inside_line(text: str, match: re.Match[str]) -> bool:
    """Return whether a marker in running text is followed by a capital and not referred to."""
    before = text[max(0, match.start() - 20) : match.start() + 1]
    after = text[match.end("mark") : match.end("mark") + 80]
    if match["dotted"] or match["article"] or _REFERENCE_BEFORE.search(before):
        return False
    is_apart = match[0].startswith("  ")
    if match["decimal"] and not match["stop"]:
        return is_apart and match_heading(text, match.end("mark") + 1)[0].isupper()
    if match["enclosed"] and not is_apart and text[match.start() - 1] in ",;":
        return False
    return (
        is_apart or _get_first_character(after).isupper() or _get_first_character(after) in "[\"'"
    )


def _get_first_character(text: str) -> str:
    return text.lstrip()[:1] or " "


def _find_long_lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.split("\n"):
        if len(line) >= MIN_LONG_LINE_CHARS:
            yield at, at + len(line)
        at += len(line) + 1


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
    low = word.lower()
    if low.isdigit():
        return int(low)
    counted = _NUMBER_WORDS.lower().split("|")
    return counted.index(low) + 1 if low in counted else _parse_roman(low)


def _parse_roman(low: str) -> int:
    values = [_ROMAN[letter] for letter in low]
    return sum(
        -value if value < max(values[at:], default=0) else value for at, value in enumerate(values)
    )
