"""Where a clause may begin: numbers and letters as contracts write them, at line starts or within.

Filed contracts often come with all lines of a page run together, so long lines are searched inside.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.tools.contracts.headings import heading

MIN_LONG_LINE = 300
MIN_WRAPPED = 60
"""A line this long may end where the margin is, in the middle of a sentence."""
LOOKED_BACK = 300
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
_COUNTED = "ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN|ELEVEN|TWELVE"
_MARK = rf"""(?:
    (?:ARTICLE|Article)[ ]+(?P<article>[IVXL]{{1,7}}|\d{{1,3}}|{_COUNTED})(?!\w)[.:)]?
  | (?:SECTION|Section|CLAUSE|Clause|Sec\.|§)[ ]*(?P<section>\d{{1,3}}(?:\.\d{{1,3}}){{0,3}})[.:)]?
  | (?P<decimal>\d{{1,3}}(?:\.\d{{1,3}}){{0,4}})(?P<stop>[.)]?)
  | (?P<open>\()?(?P<enclosed>[a-z]{{1,5}}|[A-Z]{{1,2}}|\d{{1,2}})\)
  | (?P<dotted>[A-Z]|[IVX]{{1,5}}|[a-z])\.
)(?=\s|["'\[])"""
_AT_LINE = Pattern(rf"^[ #>*_]*+(?P<mark>{_MARK})", re.VERBOSE | re.MULTILINE)
_AT_HEADING = Pattern(rf"(?P<mark>{_MARK})", re.VERBOSE)
_INSIDE = Pattern(rf"(?:(?<=[.:;)\]\"])[ ]|(?<![ ])[ ]{{2,}}+)(?P<mark>{_MARK})", re.VERBOSE)
_REFERENCE = Pattern(r"(?:and|or|of|above|below|hereof|through|to)\b|[,;)]")
_NAMED_BEFORE = Pattern(
    r"\b(?:no|nos|section|sections|sec|secs|article|articles|clause|clauses|exhibit|schedule|and|or"
    r"|paragraph|box|of|to|in|by|with|under|the|this|a|an|as)\.?\s*$",
    re.IGNORECASE,
)
_IN_LIST = Pattern(r"[;,]\s*(?:and|or|and/or)?$")


@dataclass(frozen=True)
class Marker:
    """A number or letter that may open a clause."""

    start: int
    end: int
    """After the mark and the space behind it."""
    label: str
    """As the contract writes it, without closing dots: `9`, `4.2`, `(a)`, `A`."""
    readings: tuple[tuple[str, tuple[int, ...]], ...]
    """Style and ordinals; `(i)` may be a letter or a roman number."""
    indent: int
    is_inside: bool
    """Not at the start of a line."""
    heading: str = ""
    heading_end: int = 0


def markers(text: str) -> list[Marker]:
    """Find what looks like the start of a clause; which of it is one, the sequence tells."""
    found: dict[int, Marker] = {}
    for match in _AT_LINE.finditer(text):
        if _begins_a_line(text, match):
            found[match.start("mark")] = _marker(text, match, is_inside=False)
    for start, end in _long_lines(text):
        for match in _INSIDE.finditer(text, start, end):
            at = match.start("mark")
            if at not in found and _begins_inside(text, match):
                found[at] = _marker(text, match, is_inside=True)
    for at in [marker.heading_end for marker in found.values() if marker.heading]:
        behind = _AT_HEADING.match(text, at)
        if behind and at not in found:
            found[at] = _marker(text, behind, is_inside=True)
    return [found[at] for at in sorted(found) if found[at].readings]


def _marker(text: str, match: re.Match[str], *, is_inside: bool) -> Marker:
    end = match.end("mark")
    end += len(text[end : end + 200]) - len(text[end : end + 200].lstrip())
    name, stop = heading(text, end)
    label = match["article"] or match["section"] or match["decimal"] or match["dotted"]
    return Marker(
        start=match.start("mark"),
        end=end,
        label=label or f"({match['enclosed']})",
        readings=_readings(match),
        indent=match.start("mark") - (text.rfind("\n", 0, match.start("mark")) + 1),
        is_inside=is_inside,
        heading=name,
        heading_end=stop,
    )


def _begins_a_line(text: str, match: re.Match[str]) -> bool:
    after = text[match.end("mark") : match.end("mark") + 80]
    if _REFERENCE.match(after.lstrip()) or (not match["enclosed"] and _first(after).islower()):
        return False
    if match["decimal"] and not match["stop"] and "." not in match["decimal"]:
        return bool(heading(text, match.end("mark") + 1)[0])
    before = text[max(0, match.start() - LOOKED_BACK) : match.start()].rstrip(" ")
    last = before.removesuffix("\n").rpartition("\n")[2].rstrip()
    if not last or _IN_LIST.search(last):
        return True
    is_wrapped = len(last) >= MIN_WRAPPED and (last[-1].islower() or last[-1] == ",")
    return not is_wrapped and not _NAMED_BEFORE.search(last)


def _begins_inside(text: str, match: re.Match[str]) -> bool:
    """Ask more of a mark in running text: a capital behind it, and no word that refers to it."""
    before = text[max(0, match.start() - 20) : match.start() + 1]
    after = text[match.end("mark") : match.end("mark") + 80]
    if match["dotted"] or match["article"] or _NAMED_BEFORE.search(before):
        return False
    is_apart = match[0].startswith("  ")
    if match["decimal"] and not match["stop"]:
        return is_apart and heading(text, match.end("mark") + 1)[0].isupper()
    if match["enclosed"] and not is_apart and text[match.start() - 1] in ",;":
        return False
    return is_apart or _first(after).isupper() or _first(after) in "[\"'"


def _first(text: str) -> str:
    return text.lstrip()[:1] or " "


def _long_lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.split("\n"):
        if len(line) >= MIN_LONG_LINE:
            yield at, at + len(line)
        at += len(line) + 1


def _readings(match: re.Match[str]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    if word := match["article"]:
        return (("article", (_ordinal(word),)),)
    if number := match["section"] or match["decimal"]:
        parts = tuple(int(part) for part in number.split("."))
        is_listed = match["stop"] == ")" and len(parts) == 1
        return (("1)" if is_listed else f"decimal{len(parts)}", parts),)
    letters = match["enclosed"] or match["dotted"]
    form = "{}." if match["dotted"] else "({})" if match["open"] else "{})"
    return tuple((form.format(style), (value,)) for style, value in _values(letters))


def _values(letters: str) -> Iterator[tuple[str, int]]:
    """Read a list mark every way it can be read; the letters a, A, i and I name the styles."""
    if letters.isdigit():
        yield "1", int(letters)
        return
    low = letters.lower()
    if len(set(low)) == 1 and len(low) <= 2:
        yield "aA"[letters.isupper()], ord(low[0]) - 96 + 26 * (len(low) - 1)
    if set(low) <= _ROMAN.keys():
        yield "iI"[letters.isupper()], _roman(low)


def _ordinal(word: str) -> int:
    low = word.lower()
    if low.isdigit():
        return int(low)
    counted = _COUNTED.lower().split("|")
    return counted.index(low) + 1 if low in counted else _roman(low)


def _roman(low: str) -> int:
    values = [_ROMAN[letter] for letter in low]
    return sum(
        -value if value < max(values[at:], default=0) else value for at, value in enumerate(values)
    )
