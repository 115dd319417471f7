"""Which marks open clauses: those that follow on each other, as numbers in a list do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nodes.tools.contracts.markers import Marker

MAX_GAP = 4
"""A number may be missing where a clause was deleted; more than this is no sequence."""
_TOP = ("article", "decimal1", "I.")
"""Styles of whole clauses; letters and the like stand below them."""


@dataclass(frozen=True)
class Opening:
    """A mark that opens a clause, and how deep the clause lies."""

    marker: Marker
    level: int
    style: str


@dataclass(frozen=True)
class _Level:
    style: str
    ordinals: tuple[int, ...]
    indent: int


_Place = tuple[int, str, tuple[int, ...]]
"""Depth, style and ordinals of a mark that fits."""
_Read = tuple[str, tuple[int, ...]]


def openings(markers: Iterable[Marker]) -> list[Opening]:
    """Follow the marks in their order; one that continues nothing and begins nothing is text."""
    follower = _Follower()
    found = [opening for marker in markers if (opening := follower.take(marker))]
    tops = [index for index, opening in enumerate(found) if opening.style in _TOP]
    # What is lettered before the first number are the parties and the recitals.
    return found[tops[0] :] if tops else found


def numbers(openings: Sequence[Opening]) -> list[str]:
    """Give each clause its full number: `9`, `4.2(a)`, `Article IV`, `Article II.1`."""
    labels = Counter(o.marker.label for o in openings if o.style == "decimal1" and o.level <= 1)
    found: list[str] = []
    above: list[tuple[int, str]] = []
    for opening in openings:
        while above and above[-1][0] >= opening.level:
            above.pop()
        parent = above[-1][1] if above else ""
        found.append(_number(opening, parent, labels))
        above.append((opening.level, found[-1]))
    return found


def _number(opening: Opening, parent: str, labels: Counter[str]) -> str:
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


class _Follower:
    def __init__(self) -> None:
        self._open: list[_Level] = []
        self._last: dict[str, tuple[int, ...]] = {}

    def take(self, marker: Marker) -> Opening | None:
        """Place a mark; None when it fits nowhere."""
        places = [place for reading in marker.readings for place in self._continued(reading)]
        if places:
            depth, style, ordinals = min(places, key=lambda place: self._distance(marker, place[0]))
        else:
            begun = (self._begun(marker, reading) for reading in marker.readings)
            place = next(filter(None, begun), None)
            if place is None:
                return None
            depth, style, ordinals = place
        del self._open[depth:]
        self._open.append(_Level(style, ordinals, marker.indent))
        self._last[style] = ordinals
        return Opening(marker, depth, style)

    def _continued(self, reading: _Read) -> list[_Place]:
        style, ordinals = reading
        return [
            (depth, style, ordinals)
            for depth, level in enumerate(self._open)
            if level.style == style and _follows(level.ordinals, ordinals)
        ]

    def _begun(self, marker: Marker, reading: _Read) -> _Place | None:
        style, ordinals = reading
        if style == "article":
            return (0, style, ordinals) if self._may_jump(marker, reading) else None
        if len(ordinals) > 1:
            return self._begun_below(reading)
        if ordinals[0] == 1:
            return self._depth(style), style, ordinals
        return (self._above(style), style, ordinals) if self._may_jump(marker, reading) else None

    def _begun_below(self, reading: _Read) -> _Place | None:
        """Place `4.2` below 4, or after `3.7` where the whole clause 4 has no mark of its own."""
        style, ordinals = reading
        for depth, level in reversed(list(enumerate(self._open))):
            if level.ordinals == ordinals[:-1] and ordinals[-1] <= 1 + MAX_GAP:
                return depth + 1, style, ordinals
        last = self._last.get(style, (0,) * len(ordinals))
        is_next = ordinals > last and ordinals[0] - last[0] <= 1 and ordinals[-1] <= 1
        return (self._above(style), style, ordinals) if is_next else None

    def _may_jump(self, marker: Marker, reading: _Read) -> bool:
        """Allow a number to be missing, or counting to go on in the next article."""
        style, ordinals = reading
        last = self._last.get(style, (0,))
        is_near = last[0] < ordinals[0] <= last[0] + MAX_GAP
        if style not in _TOP or not is_near or marker.is_inside:
            return False
        return bool(marker.heading) or ordinals[0] == last[0] + 1

    def _depth(self, style: str) -> int:
        """Put a new list below what is open; the first numbered clause ends lettered recitals."""
        if style in _TOP and not any(level.style in _TOP for level in self._open):
            return 0
        return len(self._open)

    def _above(self, style: str) -> int:
        """Give the place of a whole clause: right below the article, if there are any."""
        return 1 if self._open and self._open[0].style == "article" and style != "article" else 0

    def _distance(self, marker: Marker, depth: int) -> tuple[int, int]:
        level = self._open[depth]
        return abs(level.indent - marker.indent) if not marker.is_inside else 0, -depth


def _follows(last: tuple[int, ...], ordinals: tuple[int, ...]) -> bool:
    if last[:-1] != ordinals[:-1]:
        return False
    return 0 < ordinals[-1] - last[-1] <= (1 if len(ordinals) == 1 else MAX_GAP)
