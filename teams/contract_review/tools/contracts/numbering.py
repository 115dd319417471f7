"""Choose the markers that begin clauses: those that follow each other as in a list."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .markers import Marker

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
