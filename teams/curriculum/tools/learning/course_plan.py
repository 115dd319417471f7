"""Report a course plan: order, levels, weeks, what is assumed."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import MAX_JOINED_NAMES, ToolReport, fit_to_size, join_names

from .sequence import TopicSequence, order_topics
from .sources import read_sources
from .timetable import Timetable, build_timetable, format_hours
from .topics import Topic, parse_chains, read_topics

SHOWN_COUNTS = (100, 60, 30, 15)
"""Topics shown, fewer where they are too long together."""
COLUMNS = ("order", "topic", "level", "after", "hours", "weeks")


def plan_course(
    materials: Mapping[str, str],
    material: str = "",
    chains: Sequence[str] = (),
    weeks: int | None = None,
    hours_per_week: float | None = None,
) -> dict[str, Any]:
    """Order the topics of the materials and chains, and assign them to weeks.

    Raises:
        ToolRefused: there are no topics, or they depend on each other in a cycle.
    """
    held, failures = read_sources(material, materials, read_topics, is_complete=_has_prerequisites)
    given = held + parse_chains(chains)
    if not given:
        missing = (
            "no topics with prerequisites were found; give a table with the columns topic, "
            "prerequisites and hours, or chains such as `Division -> Fractions -> Decimals`"
        )
        raise ToolRefused("; ".join([*failures, missing]))
    course = order_topics(given)
    timetable = build_timetable(course.topics, weeks, hours_per_week)
    return fit_to_size(lambda most: _build_report(course, timetable, failures, most), SHOWN_COUNTS)


def _has_prerequisites(topics: Sequence[Topic]) -> bool:
    return any(topic.prerequisites for topic in topics)


def _build_report(
    course: TopicSequence, timetable: Timetable | None, failures: list[str], most: int
) -> ToolReport:
    reply = ToolReport(lines=[_format_headline(course, timetable), ""], failures=failures)
    spans = timetable.week_spans if timetable else ()
    rows = []
    for index, topic in enumerate(course.topics[:most]):
        span = _format_weeks(*spans[index]) if spans else ""
        rows.append(_build_row(index + 1, topic, course, span))
        reply.add_claim(_describe_topic(index + 1, topic, course, span), topic.source, topic.name)
    reply.add_table(COLUMNS, rows)
    first = (topic.name for topic in course.topics if course.levels[topic.name] == 1)
    reply.lines.append(f"- Can begin at once: {join_names(first)}.")
    if len(course.longest_chain) > 1:
        chain = list(course.longest_chain[:MAX_JOINED_NAMES])
        left = len(course.longest_chain) - len(chain)
        reply.lines.append(f"- Longest chain: {' → '.join(chain + [f'{left} more'] * bool(left))}.")
    _add_unlisted(reply, course, most)
    if timetable and timetable.excess:
        reply.add_finding("high", timetable.excess, course.topics[0].source)
    reply.gaps += _list_gaps(course, timetable, most)
    return reply


def _add_unlisted(reply: ToolReport, course: TopicSequence, most: int) -> None:
    """Add the prerequisites that are not among the topics as findings."""
    needs = [(topic, need) for topic in course.topics for need in topic.prerequisites]
    for topic, need in [pair for pair in needs if pair[1] in course.unlisted_prerequisites][:most]:
        near = course.unlisted_prerequisites[need]
        reply.add_finding(
            "low",
            f"{topic.name} needs {need}, which is not among the topics: it is taken as known.",
            topic.source,
            f"Is {near} meant?" if near else "Add it, or name it as a condition of the course.",
        )


def _format_headline(course: TopicSequence, timetable: Timetable | None) -> str:
    told = [
        format_count(len(course.topics), "topic"),
        format_count(sum(len(topic.prerequisites) for topic in course.topics), "prerequisite"),
        format_count(max(course.levels.values()), "level"),
    ]
    hours = [topic.hours for topic in course.topics if topic.hours is not None]
    if len(hours) == len(course.topics):
        told.append(f"{format_hours(sum(hours, Fraction()))} hours")
    if timetable:
        told.append(f"{format_count(timetable.weeks, 'week')} ({timetable.basis})")
    return f"{', '.join(told)}."


def _build_row(place: int, topic: Topic, course: TopicSequence, span: str) -> list[object]:
    hours = format_hours(topic.hours) if topic.hours else ""
    after = join_names(topic.prerequisites)
    return [place, topic.name, course.levels[topic.name], after, hours, span]


def _describe_topic(place: int, topic: Topic, course: TopicSequence, span: str) -> str:
    after = f" after {join_names(topic.prerequisites)}" if topic.prerequisites else ""
    week = f", week {span}" if span else ""
    return f"{topic.name}: place {place}, level {course.levels[topic.name]}{after}{week}"


def _format_weeks(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


def _list_gaps(course: TopicSequence, timetable: Timetable | None, most: int) -> Iterator[str]:
    without = [topic.name for topic in course.topics if topic.hours is None]
    if timetable is None:
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
