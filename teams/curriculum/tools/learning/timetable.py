"""Assign ordered topics to weeks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from nodes.limits.patterns import Pattern

from .topics import Topic

MAX_WEEKS = 520
MAX_HOURS_A_WEEK = 168

_HOURS_A_WEEK = Pattern(
    r"(\d{1,3}(?:\.\d{1,2})?)\s*(?:h|hours?|lessons?)\s*(?:a|per|each|every|/)\s*week",
    re.IGNORECASE,
)
_WEEKS = Pattern(r"(\d{1,3})[\s-]*weeks?\b", re.IGNORECASE)


@dataclass(frozen=True)
class CourseCapacity:
    """The time available in a course; None if not stated."""

    weeks: int | None = None
    hours_a_week: Fraction | None = None


@dataclass(frozen=True)
class Timetable:
    """The weeks in which each topic is taught, from 1, and how they were found."""

    week_spans: tuple[tuple[int, int], ...]
    """First and last week of each topic, in the order of the topics."""
    basis: str
    excess: str = ""
    """How far the topics exceed the available time."""

    @property
    def weeks(self) -> int:
        return max(last for _, last in self.week_spans)


def read_capacity(request: str, weeks: int = 0, hours_a_week: float = 0) -> CourseCapacity:
    """Return the capacity of a course, from the arguments, else from the words of a request."""
    hours = _HOURS_A_WEEK.search(request)
    count = _WEEKS.search(request)
    told_hours = Fraction(str(hours_a_week)) if 0 < hours_a_week <= MAX_HOURS_A_WEEK else None
    told_weeks = weeks if weeks > 0 else int(count[1]) if count else 0
    return CourseCapacity(
        weeks=min(told_weeks, MAX_WEEKS) or None,
        hours_a_week=told_hours or (Fraction(hours[1]) if hours else None) or None,
    )


def build_timetable(topics: Sequence[Topic], frame: CourseCapacity) -> Timetable | None:
    """Distribute topics over weeks in order; None if too little is known."""
    hours = [topic.hours for topic in topics if topic.hours is not None]
    total = sum(hours, Fraction())
    if len(hours) == len(topics) and frame.hours_a_week:
        told = f"{format_hours(frame.hours_a_week)} hours a week"
        return Timetable(
            _assign_weeks(hours, frame.hours_a_week), told, _describe_excess(total, frame)
        )
    if frame.weeks is None:
        return None
    if len(hours) == len(topics):
        a_week = total / frame.weeks
        return Timetable(
            _assign_weeks(hours, a_week),
            f"{format_hours(a_week)} hours a week fill the weeks given",
        )
    shares = [Fraction(1)] * len(topics)
    told = "the same share of the weeks for each topic, since not all have hours"
    return Timetable(_assign_weeks(shares, Fraction(len(topics), frame.weeks)), told)


def format_hours(hours: Fraction) -> str:
    """Return hours with at most two decimals."""
    return f"{float(hours):.2f}".rstrip("0").rstrip(".")


def _assign_weeks(loads: Sequence[Fraction], a_week: Fraction) -> tuple[tuple[int, int], ...]:
    spans, begin = [], Fraction()
    for load in loads:
        end = begin + load
        spans.append((floor(begin / a_week) + 1, ceil(end / a_week)))
        begin = end
    return tuple(spans)


def _describe_excess(total: Fraction, frame: CourseCapacity) -> str:
    if frame.weeks is None or frame.hours_a_week is None:
        return ""
    room = frame.weeks * frame.hours_a_week
    if total <= room:
        return ""
    return (
        f"{format_hours(total)} hours of topics do not fit into {frame.weeks} weeks of "
        f"{format_hours(frame.hours_a_week)} hours: {format_hours(total - room)} too many"
    )
