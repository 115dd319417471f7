"""Check the dates of a record against each other."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import combinations, islice
from typing import Any

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names
from state import Severity

from .bundle import READ_KINDS
from .dates import FhirDate, parse_date
from .history import read_active_period
from .medicines import list_courses, pair_same_medicines
from .record import PatientRecord
from .series import find_observed_date
from .values import JsonObject, Period, find_code, format_concept, get_label, get_part, read_period

SHOWN_COUNTS = (40, 20, 10)
"""Findings shown, fewer where they are too long together."""
MAX_PAIRS = 50_000
"""Entries compared with each other; no real patient has more."""
INPATIENT_CLASSES = frozenset(("IMP", "ACUTE", "NONAC"))
ONGOING_STATUSES = frozenset(("active", "recurrence", "relapse"))
PRESENT_STATUSES = frozenset(("arrived", "in-progress", "onleave", "triaged"))


@dataclass(frozen=True)
class DatedSpan:
    """A dated resource and the interval it covers."""

    name: str
    title: str
    start: FhirDate | None
    end: FhirDate | None
    is_active: bool = False
    """Whether the resource states that it continues."""

    def overlaps(self, other: "DatedSpan") -> bool:
        """Return whether two closed intervals certainly share more than a boundary day."""
        if not (self.start and self.end and other.start and other.end):
            return False
        return self.start.is_before(other.end) and other.start.is_before(self.end)


@dataclass(frozen=True)
class DateConflict:
    """A date that cannot be right, or two that contradict each other."""

    severity: Severity
    name: str
    message: str


def report_intervals(record: PatientRecord, on: date | None = None) -> dict[str, Any]:
    """Report the conflicts of a record's dates.

    Args:
        on: the day by which what has ended is past; the newest date of the record if None.
    """
    spans = list(_list_spans(record))
    clashes, failures = _check_span_pairs(record)
    clashes = [*_check_single_spans(record, spans, on), *clashes]
    return fit_to_size(
        lambda most: _build_report(record, spans, clashes, failures, most), SHOWN_COUNTS
    )


def _build_report(
    record: PatientRecord,
    spans: list[DatedSpan],
    clashes: list[DateConflict],
    failures: list[str],
    most: int,
) -> ToolReport:
    dated = [span for span in spans if span.start or span.end]
    found = format_count(len(clashes), "conflict")
    among = format_count(len(dated), "dated resource")
    reply = ToolReport(lines=[record.heading, "", f"{found} among {among}."], failures=failures)
    begun = sorted(_list_started(dated), key=lambda pair: pair[0].earliest)
    for word, (start, span) in zip(("Oldest", "Newest"), begun[:1] + begun[-1:], strict=False):
        reply.add_claim(f"{word} entry: {span.title}, {start.day}", record.cite(span.name))
    for clash in clashes[:most]:
        reply.add_finding(clash.severity, clash.message, record.cite(clash.name))
    if len(clashes) > most:
        reply.gaps.append(f"{len(clashes) - most} more conflicts of dates are not shown.")
    if undated := [span.name for span in spans if not (span.start or span.end)]:
        reply.gaps.append(f"Without a date, so not checked: {join_names(undated)}.")
    reply.gaps += record.list_gaps(READ_KINDS)
    return reply


def _list_started(spans: list[DatedSpan]) -> Iterator[tuple[FhirDate, DatedSpan]]:
    return ((span.start, span) for span in spans if span.start)


def _list_spans(record: PatientRecord) -> Iterator[DatedSpan]:
    for entry in record.list_entries("Condition", "AllergyIntolerance", "Immunization"):
        yield _build_span(entry.name, *_read_statement(entry.kind, entry.resource))
    for entry in record.list_entries("Observation"):
        when = find_observed_date(entry.resource)
        title = f"{get_label(get_part(entry.resource, 'code'))} (observation)"
        yield DatedSpan(entry.name, title, when, when)
    yield from _list_stays(record)
    yield from _list_course_spans(record)


def _read_statement(kind: str, resource: JsonObject) -> tuple[str, Period, bool]:
    """Return the title and the period of a statement, and whether it continues."""
    if kind == "Condition":
        is_active = find_code(get_part(resource, "clinicalStatus")) in ONGOING_STATUSES
        title = f"{get_label(get_part(resource, 'code'))} (condition)"
        return title, read_active_period(resource), is_active
    if kind == "AllergyIntolerance":
        since = resource.get("onsetDateTime") or resource.get("recordedDate", "")
        return f"{get_label(get_part(resource, 'code'))} (allergy)", Period(since), False
    title = f"{get_label(get_part(resource, 'vaccineCode'))} (immunization)"
    return title, Period(resource.get("occurrenceDateTime", "")), False


def _list_stays(record: PatientRecord, *, only_inpatient: bool = False) -> Iterator[DatedSpan]:
    for entry in record.list_entries("Encounter"):
        stay, kind = entry.resource, get_part(entry.resource, "class")
        if not only_inpatient or kind.get("code") in INPATIENT_CLASSES:
            words = next(map(get_label, stay.get("type", [])), "")
            title = f"{words or kind.get('display') or kind.get('code', '')} (encounter)"
            is_active = stay.get("status") in PRESENT_STATUSES
            yield _build_span(entry.name, title, read_period(stay, "period"), is_active)


def _list_course_spans(record: PatientRecord) -> Iterator[DatedSpan]:
    for course in list_courses(record):
        title = format_concept(course.medicine)
        yield _build_span(course.name, title, course.span, course.status == "active")


def _build_span(name: str, title: str, period: Period, is_active: bool) -> DatedSpan:
    return DatedSpan(name, title, period.start_date, period.end_date, is_active)


def _check_single_spans(
    record: PatientRecord, spans: list[DatedSpan], on: date | None
) -> Iterator[DateConflict]:
    """Check each interval against itself, the patient's life, and the present of the record."""
    born = parse_date(record.person.get("birthDate", ""))
    died = parse_date(record.person.get("deceasedDateTime", ""))
    starts = (start for start, _ in _list_started(spans))
    newest = max(starts, key=lambda start: start.earliest, default=None)
    present = parse_date(on.isoformat()) if on else newest
    for span in spans:
        first, last, title = span.start, span.end, span.title
        if first and last and last.is_before(first):
            message = f"{title} ends on {last.day}, before it begins on {first.day}"
            yield DateConflict("medium", span.name, message)
        if born and any(each.is_before(born) for each in (first, last) if each):
            yield DateConflict("medium", span.name, f"{title} is dated before birth ({born.day})")
        if died and first and died.is_before(first):
            message = f"{title} begins on {first.day}, after death ({died.day})"
            yield DateConflict("medium", span.name, message)
        if span.is_active and last and present and last.is_before(present):
            past = "it was checked for" if on else "the record continues to"
            message = f"{title} is called active, but ended on {last.day}; {past} {present.day}"
            yield DateConflict("low", span.name, message)


def _check_span_pairs(record: PatientRecord) -> tuple[list[DateConflict], list[str]]:
    """Compare hospital stays with stays, and courses of one medicine with each other.

    Medicines that are current twice are reported by the medication list.

    Returns:
        The conflicts, and what was not compared.
    """
    stays = combinations(_list_stays(record, only_inpatient=True), 2)
    spans = {span.name: span for span in _list_course_spans(record)}
    courses = (
        (spans[one.name], spans[other.name])
        for one, other in pair_same_medicines(list_courses(record))
        if not (one.is_current and other.is_current)
    )
    clashes, failures = list[DateConflict](), list[str]()
    kinds: tuple[tuple[str, Severity, Iterator[tuple[DatedSpan, DatedSpan]]], ...] = (
        ("stays", "medium", stays),
        ("courses of one medicine", "low", courses),
    )
    for what, severity, pairs in kinds:
        for one, other in islice(pairs, MAX_PAIRS):
            if one.overlaps(other):
                message = f"{other.title} overlaps {one.title} ({one.name})"
                clashes.append(DateConflict(severity, other.name, message))
        if next(pairs, None):
            failures.append(f"only {MAX_PAIRS:,} pairs of {what} were compared")
    return clashes, failures
