"""Report a medication list: by status, what is listed twice, what is missing."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .courses import (
    CURRENT_STATUSES,
    STATUS_TITLES,
    MedicationCourse,
    list_courses,
    pair_same_medicines,
)
from .dates import format_day
from .record import PatientRecord

SHOWN_COUNTS = (50, 30, 15, 8)
"""Courses shown of each status, fewer where they are too long together."""
MAX_DUPLICATES = 20
MEDICATION_TYPES = ("MedicationRequest", "MedicationStatement", "Medication")


def list_medicines(record: PatientRecord) -> dict[str, Any]:
    """Report every medicine of a record."""
    held = list_courses(record)
    return fit_to_size(lambda most: _build_report(record, held, most), SHOWN_COUNTS)


def _build_report(record: PatientRecord, held: list[MedicationCourse], most: int) -> ToolReport:
    reply = ToolReport(lines=[record.heading])
    if not held:
        reply.lines += ["", "No medicines are recorded."]
    statuses = {**STATUS_TITLES, **{course.status: course.status for course in held}}
    for status in sorted({course.status for course in held}, key=list(statuses).index):
        same = [course for course in held if course.status == status]
        same.sort(key=lambda course: course.span.start or course.recorded_on, reverse=True)
        title = STATUS_TITLES.get(status, f"Status {status}")
        reply.lines += ["", f"### {title} ({format_count(len(same), 'entry', 'entries')})", ""]
        for course in same[:most]:
            told = _describe_course(course)
            reply.lines.append(f"- {told} ({course.name})")
            reply.add_claim(
                f"{course.kind}: {told}", record.cite(course.name), course.medicine.label
            )
        if len(same) > most:
            reply.gaps.append(f"{len(same) - most} more entries of status {status} are not shown.")
    _report_duplicates(reply, record, held)
    reply.gaps += _list_gaps(record, held)
    reply.gaps += record.list_gaps(MEDICATION_TYPES)
    return reply


def _describe_course(course: MedicationCourse) -> str:
    start, end = format_day(course.span.start), format_day(course.span.end)
    noted = format_day(course.recorded_on)
    ends = " ".join(filter(None, (f"from {start}" * bool(start), f"until {end}" * bool(end))))
    parts = [
        course.dose or "no dose stated",
        course.status,
        f"{'prescription valid ' * course.is_prescription_validity}{ends}" if ends else "",
        f"{'ordered' if course.is_request else 'stated'} {noted}" if noted else "",
        f"reason: {course.reason}" if course.reason else "",
        course.intent if course.intent not in ("", "order") else "",
    ]
    if not (start or end or noted):
        parts.append("not dated")
    return f"{course.title}: {', '.join(filter(None, parts))}"


def _report_duplicates(
    reply: ToolReport, record: PatientRecord, held: list[MedicationCourse]
) -> None:
    """Name medicines that are current more than once, at most the first pairs."""
    current = [course for course in held if course.is_current]
    found = list(islice(pair_same_medicines(current), MAX_DUPLICATES + 1))
    for one, other in found[:MAX_DUPLICATES]:
        both_ordered = one.is_request and other.is_request
        reply.add_finding(
            "medium" if both_ordered else "low",
            f"{one.title} is {one.status} in {one.name} ({one.dose or 'no dose stated'}) and "
            f"{other.status} in {other.name} ({other.dose or 'no dose stated'}).",
            record.cite(other.name),
            "Ask whether both are meant."
            if both_ordered
            else "An order and what the patient states may be the same medicine.",
        )
    if len(found) > MAX_DUPLICATES:
        reply.gaps.append("More medicines are current twice than are named.")


def _list_gaps(record: PatientRecord, held: list[MedicationCourse]) -> Iterator[str]:
    if not held:
        yield (
            f"{record.source} records no medicines (no MedicationRequest, no MedicationStatement); "
            "that does not mean that nothing is taken."
        )
        return
    undosed = [
        course.name for course in held if not course.dose and course.status in CURRENT_STATUSES
    ]
    undated = [
        course.name
        for course in held
        if not any(map(format_day, (course.span.start, course.span.end, course.recorded_on)))
    ]
    unnamed = [course.name for course in held if not course.medicine.coding]
    if undosed:
        yield f"No dose is stated: {join_names(undosed)}."
    if undated:
        yield f"No date is stated: {join_names(undated)}."
    if unnamed:
        yield f"No code, only words, so compared by their words: {join_names(unnamed)}."
    yield (
        "The same medicine is found by equal code or equal words only, not by ingredient or class; "
        "interactions, allergies and doses are not checked."
    )
