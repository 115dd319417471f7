"""A course in words: order, levels, weeks, what is assumed."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.learning.sequence import Course, course_of
from nodes.tools.learning.topics import Topic, from_text, topics_of
from nodes.tools.learning.weeks import Frame, Timetable, shown, timetable
from nodes.tools.replies import MAX_NAMED, Reply, counted, fitted, listed

SIZES = (100, 60, 30, 15)
"""Topics shown, fewer where they are too long together."""


def plan(request: str, materials: Mapping[str, str], frame: Frame) -> dict[str, Any]:
    """Order the topics of the materials, and those that the request itself chains by arrows.

    Raises:
        ToolRefused: there are no topics, or they need each other in a circle.
    """
    held = [topic for name, text in materials.items() for topic in topics_of(name, text)]
    given = held + from_text(request)
    if not given:
        raise ToolRefused(
            "no topics with prerequisites were found; give a table with the columns topic, "
            "prerequisites and hours, or chains such as `Division -> Fractions -> Decimals`"
        )
    course = course_of(given)
    weeks = timetable(course.topics, frame)
    return fitted(lambda most: _told(course, weeks, most), SIZES)


def _told(course: Course, weeks: Timetable | None, most: int) -> Reply:
    reply = Reply(lines=[_headline(course, weeks), ""])
    reply.lines += ["| order | topic | level | after | hours | weeks |", "|---" * 6 + "|"]
    for index, topic in enumerate(course.topics[:most]):
        span = _span(weeks.spans[index]) if weeks else ""
        reply.lines.append(_row(index + 1, topic, course, span))
        reply.claim(_statement(index + 1, topic, course, span), topic.source, topic.name)
    reply.lines += ["", f"- Can begin at once: {listed(_first(course))}."]
    if len(course.chain) > 1:
        chain = course.chain[:MAX_NAMED]
        more = [f"{len(course.chain) - len(chain)} more"] if len(chain) < len(course.chain) else []
        reply.lines.append(f"- Longest chain: {' → '.join([*chain, *more])}.")
    assumed = [(t, need) for t in course.topics for need in t.needs if need in course.assumed]
    for topic, need in assumed[:most]:
        near = course.assumed[need]
        reply.finding(
            "low",
            f"{topic.name} needs {need}, which is not among the topics: it is taken as known.",
            topic.source,
            f"Is {near} meant?" if near else "Add it, or name it as a condition of the course.",
        )
    if weeks and weeks.excess:
        reply.finding("high", weeks.excess, course.topics[0].source)
    reply.gaps += _gaps(course, weeks, most)
    return reply


def _headline(course: Course, weeks: Timetable | None) -> str:
    edges = sum(len(topic.needs) for topic in course.topics)
    told = [
        counted(len(course.topics), "topic"),
        counted(edges, "prerequisite"),
        counted(max(course.levels.values()), "level"),
    ]
    hours = [topic.hours for topic in course.topics if topic.hours is not None]
    if len(hours) == len(course.topics):
        told.append(f"{shown(sum(hours, Fraction()))} hours")
    if weeks:
        told.append(f"{counted(weeks.weeks, 'week')} ({weeks.basis})")
    return f"{', '.join(told)}."


def _row(place: int, topic: Topic, course: Course, span: str) -> str:
    cells = (
        str(place),
        topic.name,
        str(course.levels[topic.name]),
        listed(topic.needs),
        shown(topic.hours) if topic.hours else "",
        span,
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _statement(place: int, topic: Topic, course: Course, span: str) -> str:
    after = f" after {listed(topic.needs)}" if topic.needs else ""
    week = f", week {span}" if span else ""
    return f"{topic.name}: place {place}, level {course.levels[topic.name]}{after}{week}"


def _span(weeks: tuple[int, int]) -> str:
    first, last = weeks
    return str(first) if first == last else f"{first} to {last}"


def _first(course: Course) -> list[str]:
    return [topic.name for topic in course.topics if course.levels[topic.name] == 1]


def _gaps(course: Course, weeks: Timetable | None, most: int) -> Iterator[str]:
    without = [topic.name for topic in course.topics if topic.hours is None]
    if weeks is None:
        yield (
            "Weeks are not planned: that takes the hours of each topic and the hours a week, or "
            "the number of weeks."
        )
    if without:
        yield f"No hours are given for: {listed(without)}."
    if course.repeated:
        yield f"Listed more than once, and joined: {listed(course.repeated)}."
    if len(course.topics) > most:
        yield f"{len(course.topics) - most} of {len(course.topics)} topics are not shown."
    yield "Whether the prerequisites are right and complete is for a teacher to judge."
