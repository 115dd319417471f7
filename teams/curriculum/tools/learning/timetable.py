"""Assign ordered topics to weeks."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from .topics import Topic


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


def build_timetable(
    topics: Sequence[Topic], weeks: int | None, hours_per_week: float | None
) -> Timetable | None:
    """Distribute topics over weeks in order; None if too little is known."""
    hours = [topic.hours for topic in topics if topic.hours is not None]
    total, has_all_hours = sum(hours, Fraction()), len(hours) == len(topics)
    if has_all_hours and hours_per_week:
        pace = Fraction(str(hours_per_week))
        excess = _describe_excess(total, weeks, pace) if weeks else ""
        return Timetable(_assign_weeks(hours, pace), f"{format_hours(pace)} hours a week", excess)
    if weeks is None:
        return None
    if has_all_hours:
        basis = f"{format_hours(total / weeks)} hours a week fill the weeks given"
        return Timetable(_assign_weeks(hours, total / weeks), basis)
    basis = "the same share of the weeks for each topic, since not all have hours"
    return Timetable(
        _assign_weeks([Fraction(1)] * len(topics), Fraction(len(topics), weeks)), basis
    )


def format_hours(hours: Fraction) -> str:
    """Return hours with at most two decimals."""
    return f"{float(hours):.2f}".rstrip("0").rstrip(".")


def _assign_weeks(loads: Sequence[Fraction], per_week: Fraction) -> tuple[tuple[int, int], ...]:
    spans, begin = [], Fraction()
    for load in loads:
        end = begin + load
        spans.append((floor(begin / per_week) + 1, ceil(end / per_week)))
        begin = end
    return tuple(spans)


def _describe_excess(total: Fraction, weeks: int, pace: Fraction) -> str:
    over = total - weeks * pace
    if over <= 0:
        return ""
    return (
        f"{format_hours(total)} hours of topics do not fit into {weeks} weeks of "
        f"{format_hours(pace)} hours: {format_hours(over)} too many"
    )
