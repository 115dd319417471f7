"""Find the headings and markers that begin clauses: those that follow each other as in a list.

Filed contracts often have all lines of a page joined, so long lines are searched inside.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

MAX_HEADING_CHARS = 110
_SMALL_WORDS = r"of|and|or|the|to|for|in|on|by|with|a|an|as|at|upon|from|under|not|&|/|-"
_HEADING_WORD = rf"(?:[A-Z0-9\"'(][\w'&/.()\"-]*,?|{_SMALL_WORDS})"
_FIRST_WORD = r"[A-Z\"'](?:[\w'&/()\"-]|\.(?=\w))*,?"
_HEADING = Pattern(
    rf"^(?P<name>\[[^\]\n]{{3,60}}\]|{_FIRST_WORD}(?:[ ]{{1,2}}{_HEADING_WORD}){{0,11}}?)"
    r"(?P<end>[ ]?[.:](?=\s|$)|[ ]+-+[ ]|-{2,}|[ ]{3,}|[ ]*(?:\n\s*+(?![a-z])|$)"
    r"|[ ]+(?=\(?[aA1i]\)[ ]))"
)
_ABBREVIATED = Pattern(r"\b(?:Inc|Corp|Ltd|Co|LLC|No|Mr|Ms|Dr|[A-Z])$")


def match_heading(text: str, at: int) -> tuple[str, int]:
    """Return the heading at an offset, and where the clause continues; empty if there is none."""
    found = _HEADING.match(text[at : at + MAX_HEADING_CHARS])
    if not found or (found.end() == MAX_HEADING_CHARS and not found["end"]):
        return "", at
    name = found["name"].strip(" ,")
    if found["end"].lstrip().startswith(".") and _ABBREVIATED.search(name):
        return "", at
    return " ".join(name.split()).strip("\"'*_ "), at + found.end()


def is_heading_line(line: str) -> bool:
    """Return whether this is a heading without a number on a line of its own."""
    bare = line.strip().lstrip("#*_ ").rstrip(":*_ ")
    if line.lstrip().startswith("#"):
        return bool(bare)
    words = Pattern(r"[A-Za-z][\w'-]*").findall(bare)
    if not words or len(words) > 9 or len(bare) > 80 or bare.endswith((".", ",", ";")):
        return False
    if Pattern(r"[_=|]{2}|/s/").search(bare):
        return False
    small = Pattern(rf"(?:{_SMALL_WORDS})$")
    return bare.isupper() or all(word[0].isupper() or small.match(word) for word in words)


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


MAX_NUMBER_GAP = 4
"""A number may be missing where a clause was deleted; a larger gap is no sequence."""
_TOP_STYLES = ("article", "decimal1", "I.")
"""Styles of whole clauses; letters and the like are below them."""


@dataclass(frozen=True)
class ClauseOpening:
    """A marker that begins a clause, and the depth of the clause."""

    marker: Marker
    level: int
    style: str


_Level = tuple[str, tuple[int, ...]]
"""Style of a list, and the ordinals of its last marker."""


def find_openings(markers: Iterable[Marker]) -> list[ClauseOpening]:
    """Follow the markers in order; one that neither continues nor begins a list is text."""
    found, levels, last = list[ClauseOpening](), list[_Level](), dict[str, tuple[int, ...]]()
    for marker in markers:
        place = _find_continuation(levels, marker) or _find_beginning(levels, last, marker)
        if place is not None:
            depth, (style, ordinals) = place
            levels[depth:] = [(style, ordinals)]
            last[style] = ordinals
            found.append(ClauseOpening(marker, depth, style))
    tops = [index for index, opening in enumerate(found) if opening.style in _TOP_STYLES]
    # Letters before the first number are the parties and the recitals.
    return found[tops[0] :] if tops else found


def number_clauses(openings: Sequence[ClauseOpening]) -> list[str]:
    """Return the full number of each clause: `9`, `4.2(a)`, `Article IV`, `Article II.1`."""
    labels = Counter(o.marker.label for o in openings if o.style == "decimal1" and o.level <= 1)
    found: list[str] = []
    above: list[tuple[int, str]] = []
    for opening in openings:
        while above and above[-1][0] >= opening.level:
            above.pop()
        parent = above[-1][1] if above else ""
        found.append(_build_number(opening, parent, labels))
        above.append((opening.level, found[-1]))
    return found


def _build_number(opening: ClauseOpening, parent: str, labels: Counter[str]) -> str:
    label, style = opening.marker.label, opening.style
    if style == "article":
        return f"Article {label}"
    if style.startswith("decimal") and (style != "decimal1" or not parent):
        return label
    if parent.startswith("Article") and style == "decimal1" and labels[label] == 1:
        return label
    if not parent:
        return label.strip("()")
    return f"{parent}{label}" if label.startswith("(") else f"{parent}.{label}"


def _find_continuation(levels: Sequence[_Level], marker: Marker) -> tuple[int, _Level] | None:
    """Return the depth of the innermost open list that a marker continues."""
    for depth, (style, last) in reversed(list(enumerate(levels))):
        for reading in marker.interpretations:
            if style == reading[0] and _follows(last, reading[1]):
                return depth, reading
    return None


def _find_beginning(
    levels: Sequence[_Level], last: Mapping[str, tuple[int, ...]], marker: Marker
) -> tuple[int, _Level] | None:
    """Return the depth of the list that a marker begins."""
    for style, ordinals in marker.interpretations:
        number, before = ordinals[-1], last.get(style, (0,) * len(ordinals))
        is_in_article = style != "article" and levels[:1] and levels[0][0] == "article"
        whole = int(bool(is_in_article))
        if len(ordinals) > 1:
            # `4.2` is below 4, or follows `3.7` if the whole clause 4 has no marker of its own.
            above = [at for at, level in enumerate(levels, start=1) if level[1] == ordinals[:-1]]
            if above and number <= 1 + MAX_NUMBER_GAP:
                return above[-1], (style, ordinals)
            if ordinals > before and ordinals[0] - before[0] <= 1 and number <= 1:
                return whole, (style, ordinals)
        elif number == 1 and style != "article":
            has_top = any(level[0] in _TOP_STYLES for level in levels)
            is_first = style in _TOP_STYLES and not has_top
            return 0 if is_first else len(levels), (style, ordinals)
        elif style in _TOP_STYLES and not marker.is_inside:
            gap = number - before[0]
            if gap == 1 or (marker.heading and 0 < gap <= MAX_NUMBER_GAP):
                return whole, (style, ordinals)
    return None


def _follows(last: tuple[int, ...], ordinals: tuple[int, ...]) -> bool:
    if last[:-1] != ordinals[:-1]:
        return False
    return 0 < ordinals[-1] - last[-1] <= (1 if len(ordinals) == 1 else MAX_NUMBER_GAP)
