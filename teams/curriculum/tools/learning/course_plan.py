"""Report a course plan: order, levels, weeks, what is assumed."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import MAX_JOINED_NAMES, ToolReport, fit_to_size, join_names

from .sequence import TopicSequence, order_topics
from .timetable import CourseCapacity, Timetable, build_timetable, format_hours
from .topics import Topic, parse_topics, read_topics

SHOWN_COUNTS = (100, 60, 30, 15)
"""Topics shown, fewer where they are too long together."""


def plan_course(
    request: str, materials: Mapping[str, str], frame: CourseCapacity
) -> dict[str, Any]:
    """Order the topics of the materials, and those that the request itself chains by arrows.

    Raises:
        ToolRefused: there are no topics, or they depend on each other in a cycle.
    """
    held = [topic for name, text in materials.items() for topic in read_topics(name, text)]
    given = held + parse_topics(request)
    if not given:
        raise ToolRefused(
            "no topics with prerequisites were found; give a table with the columns topic, "
            "prerequisites and hours, or chains such as `Division -> Fractions -> Decimals`"
        )
    course = order_topics(given)
    weeks = build_timetable(course.topics, frame)
    return fit_to_size(lambda most: _build_report(course, weeks, most), SHOWN_COUNTS)


def _build_report(course: TopicSequence, weeks: Timetable | None, most: int) -> ToolReport:
    reply = ToolReport(lines=[_format_headline(course, weeks), ""])
    reply.lines += ["| order | topic | level | after | hours | weeks |", "|---" * 6 + "|"]
    for index, topic in enumerate(course.topics[:most]):
        span = _format_weeks(weeks.week_spans[index]) if weeks else ""
        reply.lines.append(_format_row(index + 1, topic, course, span))
        reply.add_claim(_describe_topic(index + 1, topic, course, span), topic.source, topic.name)
    reply.lines += ["", f"- Can begin at once: {join_names(_list_first_topics(course))}."]
    if len(course.longest_chain) > 1:
        chain = course.longest_chain[:MAX_JOINED_NAMES]
        more = (
            [f"{len(course.longest_chain) - len(chain)} more"]
            if len(chain) < len(course.longest_chain)
            else []
        )
        reply.lines.append(f"- Longest chain: {' → '.join([*chain, *more])}.")
    assumed = [
        (t, need)
        for t in course.topics
        for need in t.prerequisites
        if need in course.unlisted_prerequisites
    ]
    for topic, need in assumed[:most]:
        near = course.unlisted_prerequisites[need]
        reply.add_finding(
            "low",
            f"{topic.name} needs {need}, which is not among the topics: it is taken as known.",
            topic.source,
            f"Is {near} meant?" if near else "Add it, or name it as a condition of the course.",
        )
    if weeks and weeks.excess:
        reply.add_finding("high", weeks.excess, course.topics[0].source)
    reply.gaps += _list_gaps(course, weeks, most)
    return reply


def _format_headline(course: TopicSequence, weeks: Timetable | None) -> str:
    edges = sum(len(topic.prerequisites) for topic in course.topics)
    told = [
        format_count(len(course.topics), "topic"),
        format_count(edges, "prerequisite"),
        format_count(max(course.levels.values()), "level"),
    ]
    hours = [topic.hours for topic in course.topics if topic.hours is not None]
    if len(hours) == len(course.topics):
        told.append(f"{format_hours(sum(hours, Fraction()))} hours")
    if weeks:
        told.append(f"{format_count(weeks.weeks, 'week')} ({weeks.basis})")
    return f"{', '.join(told)}."


def _format_row(place: int, topic: Topic, course: TopicSequence, span: str) -> str:
    cells = (
        str(place),
        topic.name,
        str(course.levels[topic.name]),
        join_names(topic.prerequisites),
        format_hours(topic.hours) if topic.hours else "",
        span,
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _describe_topic(place: int, topic: Topic, course: TopicSequence, span: str) -> str:
    after = f" after {join_names(topic.prerequisites)}" if topic.prerequisites else ""
    week = f", week {span}" if span else ""
    return f"{topic.name}: place {place}, level {course.levels[topic.name]}{after}{week}"


def _format_weeks(weeks: tuple[int, int]) -> str:
    first, last = weeks
    return str(first) if first == last else f"{first} to {last}"


def _list_first_topics(course: TopicSequence) -> list[str]:
    return [topic.name for topic in course.topics if course.levels[topic.name] == 1]


def _list_gaps(course: TopicSequence, weeks: Timetable | None, most: int) -> Iterator[str]:
    without = [topic.name for topic in course.topics if topic.hours is None]
    if weeks is None:
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
