"""Rows of a timeline: spans of one row follow or contain each other, never overlap in part."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Span:
    """Something that took time; seconds from the run's start."""

    name: str
    category: str
    group: str
    """The rows that it belongs to, such as a worker's."""
    owner: str
    """The task that it is part of; a span lies inside spans of its own task alone."""
    start_s: float
    end_s: float
    is_outer: bool = False
    """It is a whole task, which lies inside no other span."""
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PlacedSpan:
    """A span, and its row in its group, counted from 0."""

    span: Span
    row: int


def place_spans(spans: Iterable[Span]) -> list[PlacedSpan]:
    """Return each span with its row; what overlaps gets a further row of its group."""
    groups: defaultdict[str, list[list[Span]]] = defaultdict(list)
    placed = []
    for span in sorted(spans, key=lambda each: (each.start_s, -each.end_s, not each.is_outer)):
        rows = groups[span.group]
        for row in rows:
            while row and row[-1].end_s <= span.start_s:
                row.pop()
        index = _choose_row(rows, span)
        if index == len(rows):
            rows.append([])
        rows[index].append(span)
        placed.append(PlacedSpan(span, index))
    return placed


def _choose_row(rows: list[list[Span]], span: Span) -> int:
    """Return the row in which a span lies inside its task, else a free one, else a new one."""
    for index, row in enumerate(rows):
        is_inside = bool(row) and row[-1].owner == span.owner and span.end_s <= row[-1].end_s
        if is_inside and not span.is_outer:
            return index
    free = (index for index, row in enumerate(rows) if not row)
    return next(free, len(rows))
