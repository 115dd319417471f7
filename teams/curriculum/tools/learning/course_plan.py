"""Report a course plan: order, levels, weeks, what is assumed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Annotated, Any

from pydantic import Field

from extensions.tools.tables.formatting import format_number
from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import MAX_JOINED_NAMES, ToolReport, fit_to_size, join_names

from .course_tool import MaterialName, ShortText
from .sources import read_sources
from .topics import Topic, TopicSequence, order_topics, parse_chains, read_topics

SHOWN_COUNTS = (100, 60, 30, 15)
"""Topics shown, fewer where they are too long together."""
COLUMNS = ("order", "topic", "level", "after", "hours", "weeks")


def plan_course(
    materials: Mapping[str, str],
    material: MaterialName = "",
    chains: Annotated[
        Sequence[ShortText],
        Field(
            description="Topics of the task itself, such as Division -> Fractions -> Decimals",
            max_length=50,
        ),
    ] = (),
    weeks: Annotated[int | None, Field(description="Weeks the course has", ge=1, le=520)] = None,
    hours_per_week: Annotated[
        float | None,
        Field(description="Hours taught in a week", gt=0, le=168, allow_inf_nan=False),
    ] = None,
) -> dict[str, Any]:
    """Order topics so that each comes after its prerequisites; return levels and weeks.

    The topics are in a material (a table with topic, prerequisites, hours, or chains), or given as
    chains. Prerequisites that form a circle are refused, with the circle named.
    Example: prerequisite_graph(material="topics.csv", weeks=6, hours_per_week=3)

    Raises:
        ToolRefused: there are no topics, or they depend on each other in a cycle.
    """
    held, failures = read_sources(material, materials, read_topics)
    given = held + parse_chains(chains)
    if not given:
        missing = (
            "no topics with prerequisites were found; give a table with the columns topic, "
            "prerequisites and hours, or chains such as `Division -> Fractions -> Decimals`"
        )
        raise ToolRefused("; ".join([*failures, missing]))
    course = order_topics(given)
    timetable = _build_timetable(course.topics, weeks, hours_per_week)
    return fit_to_size(lambda most: _build_report(course, timetable, failures, most), SHOWN_COUNTS)


@dataclass(frozen=True)
class _Timetable:
    weeks_by_topic: dict[str, str]
    """The weeks in which each topic is taught, from 1; empty if too little is known."""
    headline: str = ""
    excess: str = ""
    """How far the topics exceed the available time."""


def _build_timetable(
    topics: Sequence[Topic], weeks: int | None, hours_per_week: float | None
) -> _Timetable:
    """Distribute topics over weeks, in their order."""
    hours = [topic.hours for topic in topics if topic.hours is not None]
    if len(hours) == len(topics) and hours_per_week:
        pace = Fraction(str(hours_per_week))
        basis = f"{format_number(pace)} hours a week"
    elif weeks and len(hours) == len(topics):
        pace = sum(hours) / Fraction(weeks)
        basis = f"{format_number(pace)} hours a week fill the weeks given"
    elif weeks:
        hours, pace = [Fraction(1)] * len(topics), Fraction(len(topics), weeks)
        basis = "the same share of the weeks for each topic, since not all have hours"
    else:
        return _Timetable({})
    begin, last, spans = Fraction(), 1, dict[str, str]()
    for topic, load in zip(topics, hours, strict=True):
        first, last = floor(begin / pace) + 1, ceil((begin + load) / pace)
        spans[topic.name] = f"{first} to {last}" if first < last else f"{last}"
        begin += load
    over, excess = begin - (weeks or last) * pace, ""
    if over > 0:
        excess = (
            f"{format_number(begin)} hours of topics do not fit into {weeks} weeks of "
            f"{format_number(pace)} hours: {format_number(over)} too many"
        )
    return _Timetable(spans, f"{format_count(last, 'week')} ({basis})", excess)


def _build_report(
    course: TopicSequence, timetable: _Timetable, failures: list[str], most: int
) -> ToolReport:
    report = ToolReport(lines=[_format_headline(course, timetable), ""], failures=failures)
    rows, levels = [], course.levels
    for place, topic in enumerate(course.topics[:most], start=1):
        span, after = timetable.weeks_by_topic.get(topic.name, ""), join_names(topic.prerequisites)
        hours = format_number(topic.hours) if topic.hours else ""
        rows.append((place, topic.name, levels[topic.name], after, hours, span))
        claim = f"{topic.name}: place {place}, level {levels[topic.name]}"
        claim += f" after {after}" if after else ""
        report.add_claim(claim + (f", week {span}" if span else ""), topic.source, topic.name)
    report.add_table(COLUMNS, rows)
    first = (topic.name for topic in course.topics if levels[topic.name] == 1)
    report.lines.append(f"- Can begin at once: {join_names(first)}.")
    if len(course.longest_chain) > 1:
        chain = list(course.longest_chain[:MAX_JOINED_NAMES])
        left = len(course.longest_chain) - len(chain)
        chain += [f"{left} more"] if left else []
        report.lines.append(f"- Longest chain: {' → '.join(chain)}.")
    _add_unlisted(report, course, most)
    if timetable.excess:
        report.add_finding("high", timetable.excess, course.topics[0].source)
    report.gaps += _list_gaps(course, timetable, most)
    return report


def _add_unlisted(report: ToolReport, course: TopicSequence, most: int) -> None:
    """Add the prerequisites that are not among the topics as findings."""
    needs = [(topic, need) for topic in course.topics for need in topic.prerequisites]
    for topic, need in [pair for pair in needs if pair[1] in course.unlisted_prerequisites][:most]:
        near = course.unlisted_prerequisites[need]
        report.add_finding(
            "low",
            f"{topic.name} needs {need}, which is not among the topics: it is taken as known.",
            topic.source,
            f"Is {near} meant?" if near else "Add it, or name it as a condition of the course.",
        )


def _format_headline(course: TopicSequence, timetable: _Timetable) -> str:
    parts = [
        format_count(len(course.topics), "topic"),
        format_count(sum(len(topic.prerequisites) for topic in course.topics), "prerequisite"),
        format_count(max(course.levels.values()), "level"),
    ]
    hours = [topic.hours for topic in course.topics if topic.hours is not None]
    if len(hours) == len(course.topics):
        parts.append(f"{format_number(sum(hours))} hours")
    parts += [timetable.headline] if timetable.headline else []
    return f"{', '.join(parts)}."


def _list_gaps(course: TopicSequence, timetable: _Timetable, most: int) -> Iterator[str]:
    without = [topic.name for topic in course.topics if topic.hours is None]
    if not timetable.weeks_by_topic:
        yield (
            "Weeks are not planned: that takes the hours of each topic and the hours a week, or "
            "the number of weeks."
        )
    if without:
        yield f"No hours are given for: {join_names(without)}."
    if course.repeated_topics:
        yield f"Listed more than once, and joined: {join_names(course.repeated_topics)}."
    if len(course.topics) > most:
        yield f"{len(course.topics) - most} of {len(course.topics)} topics are not shown."
    yield "Whether the prerequisites are right and complete is for a teacher to judge."
