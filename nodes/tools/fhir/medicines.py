"""A medication list in words: by status, what stands twice, what is missing."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from nodes.tools.fhir.courses import CURRENT, STATUSES, Course, courses, pairs
from nodes.tools.fhir.moments import day
from nodes.tools.fhir.record import Record
from nodes.tools.replies import Reply, counted, fitted, listed

SIZES = (50, 30, 15, 8)
"""Courses shown of each status, fewer where they are too long together."""
MAX_DUPLICATES = 20
KINDS = ("MedicationRequest", "MedicationStatement", "Medication")


def medicines(record: Record) -> dict[str, Any]:
    """Tell every medicine of a record."""
    held = courses(record)
    return fitted(lambda most: _told(record, held, most), SIZES)


def _told(record: Record, held: list[Course], most: int) -> Reply:
    reply = Reply(lines=[record.heading])
    if not held:
        reply.lines += ["", "No medicines are recorded."]
    statuses = {**STATUSES, **{course.status: course.status for course in held}}
    for status in sorted({course.status for course in held}, key=list(statuses).index):
        same = [course for course in held if course.status == status]
        same.sort(key=lambda course: course.span.start or course.noted, reverse=True)
        title = STATUSES.get(status, f"Status {status}")
        reply.lines += ["", f"### {title} ({counted(len(same), 'entry', 'entries')})", ""]
        for course in same[:most]:
            told = _words(course)
            reply.lines.append(f"- {told} ({course.name})")
            reply.claim(f"{course.kind}: {told}", record.cite(course.name), course.medicine.words)
        if len(same) > most:
            reply.gaps.append(f"{len(same) - most} more entries of status {status} are not shown.")
    _find_duplicates(reply, record, held)
    reply.gaps += _gaps(record, held)
    reply.gaps += record.gaps(KINDS)
    return reply


def _words(course: Course) -> str:
    start, end = day(course.span.start), day(course.span.end)
    noted = day(course.noted)
    ends = " ".join(filter(None, (f"from {start}" * bool(start), f"until {end}" * bool(end))))
    parts = [
        course.dose or "no dose stated",
        course.status,
        f"{'prescription valid ' * course.is_validity}{ends}" if ends else "",
        f"{'ordered' if course.is_request else 'stated'} {noted}" if noted else "",
        f"reason: {course.reason}" if course.reason else "",
        course.intent if course.intent not in ("", "order") else "",
    ]
    if not (start or end or noted):
        parts.append("not dated")
    return f"{course.title}: {', '.join(filter(None, parts))}"


def _find_duplicates(reply: Reply, record: Record, held: list[Course]) -> None:
    """Name medicines that are current more than once, the first pairs of many."""
    current = [course for course in held if course.is_current]
    found = list(islice(pairs(current), MAX_DUPLICATES + 1))
    for one, other in found[:MAX_DUPLICATES]:
        both_ordered = one.is_request and other.is_request
        reply.finding(
            "medium" if both_ordered else "low",
            f"{one.title} is {one.status} in {one.name} ({one.dose or 'no dose stated'}) and "
            f"{other.status} in {other.name} ({other.dose or 'no dose stated'}).",
            record.cite(other.name),
            "Ask whether both are meant."
            if both_ordered
            else "An order and what the patient tells may be the same medicine.",
        )
    if len(found) > MAX_DUPLICATES:
        reply.gaps.append("More medicines are current twice than are named.")


def _gaps(record: Record, held: list[Course]) -> Iterator[str]:
    if not held:
        yield (
            f"{record.source} records no medicines (no MedicationRequest, no MedicationStatement); "
            "that does not mean that nothing is taken."
        )
        return
    undosed = [course.name for course in held if not course.dose and course.status in CURRENT]
    undated = [
        course.name
        for course in held
        if not any(map(day, (course.span.start, course.span.end, course.noted)))
    ]
    unnamed = [course.name for course in held if not course.medicine.coding]
    if undosed:
        yield f"No dose is stated: {listed(undosed)}."
    if undated:
        yield f"No date is stated: {listed(undated)}."
    if unnamed:
        yield f"No code, only words, so compared by their words: {listed(unnamed)}."
    yield (
        "The same medicine is told by equal code or equal words only, not by ingredient or class; "
        "interactions, allergies and doses are not checked."
    )
