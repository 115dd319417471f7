"""Check the dates of a record against each other."""

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import chain, combinations, islice
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names
from state import Severity

from .history import SECTION_KINDS, read_statement
from .medicines import list_courses, pair_same_medicines
from .record import READ_KINDS, PatientRecord
from .trends import get_observed_date
from .values import FhirDate, Period, format_concept, get_label, get_part, parse_date

SHOWN_COUNTS = (40, 20, 10)
"""Findings shown, fewer where they are too long together."""
MAX_CONFLICTS = 1_000
INPATIENT_CLASSES = frozenset(("IMP", "ACUTE", "NONAC"))
ACTIVE_STATUSES = frozenset(
    ("active", "recurrence", "relapse", "arrived", "in-progress", "onleave", "triaged")
)
"""Statuses that state that a condition, a stay or a course continues."""


class DatedSpan(NamedTuple):
    """A dated resource and the interval it covers."""

    name: str
    title: str
    start: FhirDate | None
    end: FhirDate | None
    is_active: bool

    def overlaps(self, other: "DatedSpan") -> bool:
        """Return whether two closed intervals certainly share more than a boundary day."""
        if not (self.start and self.end and other.start and other.end):
            return False
        return self.start.is_before(other.end) and other.start.is_before(self.end)


class DateConflict(NamedTuple):
    """A date that cannot be right, or two that contradict each other."""

    severity: Severity
    name: str
    message: str


def report_intervals(
    record: PatientRecord,
    on: Annotated[
        date | None,
        Field(
            description="Day on which an active entry must not have ended, YYYY-MM-DD; without it "
            "the newest date of the record"
        ),
    ] = None,
) -> dict[str, Any]:
    """Check the dates of a FHIR R4 bundle: ends before starts, before birth or after death.

    Also hospital stays that overlap, courses of one medicine that overlap, and what is still marked
    as active though its end has passed. Each finding names its resource.
    Example: interval_check(material="bundle.json", on="2025-12-31")
    """
    spans = list(_list_spans(record))
    found = chain(_check_single_spans(record, spans, on), _check_span_pairs(record, spans))
    conflicts = list(islice(found, MAX_CONFLICTS))
    return fit_to_size(lambda most: _build_report(record, spans, conflicts, most), SHOWN_COUNTS)


def _build_report(
    record: PatientRecord, spans: list[DatedSpan], conflicts: list[DateConflict], most: int
) -> ToolReport:
    undated = [span.name for span in spans if not (span.start or span.end)]
    found = format_count(len(conflicts), "conflict")
    among = format_count(len(spans) - len(undated), "dated resource")
    report = record.begin_report(f"{found} among {among}.")
    begun = sorted(_list_starts(spans), key=lambda pair: pair[0].earliest)
    for word, (start, span) in zip(("Oldest", "Newest"), begun[:1] + begun[-1:], strict=False):
        report.add_claim(f"{word} entry: {span.title}, {start.day}", record.cite(span.name))
    for severity, name, message in conflicts[:most]:
        report.add_finding(severity, message, record.cite(name))
    if len(conflicts) > most:
        report.gaps.append(f"{len(conflicts) - most} more conflicts of dates are not shown.")
    if len(conflicts) == MAX_CONFLICTS:
        report.failures.append(f"only the first {MAX_CONFLICTS:,} conflicts were looked for")
    if undated:
        report.gaps.append(f"Without a date, so not checked: {join_names(undated)}.")
    report.gaps += record.list_gaps(READ_KINDS)
    return report


def _list_starts(spans: Iterable[DatedSpan]) -> Iterator[tuple[FhirDate, DatedSpan]]:
    return ((span.start, span) for span in spans if span.start)


def _list_spans(record: PatientRecord) -> Iterator[DatedSpan]:
    for entry in record.list_entries(*SECTION_KINDS.values()):
        read = read_statement(entry)
        title = f"{get_label(read.concept)} ({entry.kind})"
        yield _build_span(entry.name, title, read.period, read.status)
    for entry in record.list_entries("Observation"):
        title, day = get_label(get_part(entry.resource, "code")), get_observed_date(entry.resource)
        yield _build_span(entry.name, f"{title} (Observation)", Period(day, day), "")
    for course in list_courses(record):
        title = format_concept(course.medicine)
        yield _build_span(course.name, title, course.span, course.status)


def _build_span(name: str, title: str, period: Period, status: str) -> DatedSpan:
    start, end = parse_date(period.start), parse_date(period.end)
    return DatedSpan(name, title, start, end, status in ACTIVE_STATUSES)


def _check_single_spans(
    record: PatientRecord, spans: list[DatedSpan], on: date | None
) -> Iterator[DateConflict]:
    """Check each interval against itself, the patient's life, and the present of the record."""
    born = parse_date(record.person.get("birthDate", ""))
    died = parse_date(record.person.get("deceasedDateTime", ""))
    starts = (start for start, _ in _list_starts(spans))
    newest = max(starts, key=lambda start: start.earliest, default=None)
    present = parse_date(on.isoformat()) if on else newest
    for name, title, first, last, is_active in spans:
        if first and last and last.is_before(first):
            message = f"{title} ends on {last.day}, before it begins on {first.day}"
            yield DateConflict("medium", name, message)
        if born and any(each.is_before(born) for each in (first, last) if each):
            yield DateConflict("medium", name, f"{title} is dated before birth ({born.day})")
        if died and first and died.is_before(first):
            message = f"{title} begins on {first.day}, after death ({died.day})"
            yield DateConflict("medium", name, message)
        if is_active and last and present and last.is_before(present):
            past = "it was checked for" if on else "the record continues to"
            message = f"{title} is called active, but ended on {last.day}; {past} {present.day}"
            yield DateConflict("low", name, message)


def _check_span_pairs(record: PatientRecord, spans: list[DatedSpan]) -> Iterator[DateConflict]:
    """Compare hospital stays with stays, and courses of one medicine with each other.

    Medicines that are current twice are reported by the medication list.
    """
    by_name = {span.name: span for span in spans}
    stays = [
        by_name[entry.name]
        for entry in record.list_entries("Encounter")
        if get_part(entry.resource, "class").get("code") in INPATIENT_CLASSES
    ]
    courses = (
        (by_name[one.name], by_name[other.name])
        for one, other in pair_same_medicines(list_courses(record))
        if not (one.is_current and other.is_current)
    )
    kinds: tuple[tuple[Severity, Iterable[tuple[DatedSpan, DatedSpan]]], ...] = (
        ("medium", combinations(stays, 2)),
        ("low", courses),
    )
    for severity, pairs in kinds:
        for one, other in pairs:
            if one.overlaps(other):
                message = f"{other.title} overlaps {one.title} ({one.name})"
                yield DateConflict(severity, other.name, message)
