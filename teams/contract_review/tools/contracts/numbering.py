"""Choose the markers that begin clauses: those that follow each other as in a list."""

from collections import Counter
from collections.abc import Iterable, Sequence
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


@dataclass(frozen=True)
class _OpenLevel:
    style: str
    ordinals: tuple[int, ...]
    indent: int


_Position = tuple[int, str, tuple[int, ...]]
"""Depth, style and ordinals of a marker that fits."""
_Interpretation = tuple[str, tuple[int, ...]]


def find_openings(markers: Iterable[Marker]) -> list[ClauseOpening]:
    """Follow the markers in order; one that neither continues nor begins a list is text."""
    follower = _SequenceTracker()
    found = [opening for marker in markers if (opening := follower.place_marker(marker))]
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


class _SequenceTracker:
    def __init__(self) -> None:
        self._open_levels: list[_OpenLevel] = []
        self._last_ordinals: dict[str, tuple[int, ...]] = {}

    def place_marker(self, marker: Marker) -> ClauseOpening | None:
        """Place a marker; None if it fits nowhere."""
        places = [
            place
            for reading in marker.interpretations
            for place in self._find_continuations(reading)
        ]
        if places:
            depth, style, ordinals = min(
                places, key=lambda place: self._measure_distance(marker, place[0])
            )
        else:
            begun = (self._find_beginning(marker, reading) for reading in marker.interpretations)
            place = next(filter(None, begun), None)
            if place is None:
                return None
            depth, style, ordinals = place
        del self._open_levels[depth:]
        self._open_levels.append(_OpenLevel(style, ordinals, marker.indent))
        self._last_ordinals[style] = ordinals
        return ClauseOpening(marker, depth, style)

    def _find_continuations(self, reading: _Interpretation) -> list[_Position]:
        style, ordinals = reading
        return [
            (depth, style, ordinals)
            for depth, level in enumerate(self._open_levels)
            if level.style == style and _follows(level.ordinals, ordinals)
        ]

    def _find_beginning(self, marker: Marker, reading: _Interpretation) -> _Position | None:
        style, ordinals = reading
        if style == "article":
            return (0, style, ordinals) if self._may_jump(marker, reading) else None
        if len(ordinals) > 1:
            return self._find_nested_beginning(reading)
        if ordinals[0] == 1:
            return self._find_depth(style), style, ordinals
        return (
            (self._find_clause_depth(style), style, ordinals)
            if self._may_jump(marker, reading)
            else None
        )

    def _find_nested_beginning(self, reading: _Interpretation) -> _Position | None:
        """Place `4.2` below 4, or after `3.7` if the whole clause 4 has no marker of its own."""
        style, ordinals = reading
        for depth, level in reversed(list(enumerate(self._open_levels))):
            if level.ordinals == ordinals[:-1] and ordinals[-1] <= 1 + MAX_NUMBER_GAP:
                return depth + 1, style, ordinals
        last = self._last_ordinals.get(style, (0,) * len(ordinals))
        is_next = ordinals > last and ordinals[0] - last[0] <= 1 and ordinals[-1] <= 1
        return (self._find_clause_depth(style), style, ordinals) if is_next else None

    def _may_jump(self, marker: Marker, reading: _Interpretation) -> bool:
        """Allow one missing number, or numbering that continues in the next article."""
        style, ordinals = reading
        last = self._last_ordinals.get(style, (0,))
        is_near = last[0] < ordinals[0] <= last[0] + MAX_NUMBER_GAP
        if style not in _TOP_STYLES or not is_near or marker.is_inside:
            return False
        return bool(marker.heading) or ordinals[0] == last[0] + 1

    def _find_depth(self, style: str) -> int:
        """Place a new list below what is open; the first numbered clause ends lettered recitals."""
        if style in _TOP_STYLES and not any(
            level.style in _TOP_STYLES for level in self._open_levels
        ):
            return 0
        return len(self._open_levels)

    def _find_clause_depth(self, style: str) -> int:
        """Return the depth of a whole clause: directly below the article, if there are any."""
        return (
            1
            if self._open_levels and self._open_levels[0].style == "article" and style != "article"
            else 0
        )

    def _measure_distance(self, marker: Marker, depth: int) -> tuple[int, int]:
        level = self._open_levels[depth]
        return abs(level.indent - marker.indent) if not marker.is_inside else 0, -depth


def _follows(last: tuple[int, ...], ordinals: tuple[int, ...]) -> bool:
    if last[:-1] != ordinals[:-1]:
        return False
    return 0 < ordinals[-1] - last[-1] <= (1 if len(ordinals) == 1 else MAX_NUMBER_GAP)
