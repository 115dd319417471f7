"""Check the dates of a record against each other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, islice
from typing import Any

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names
from state import Severity

from .courses import list_courses, pair_same_medicines
from .datatypes import Period
from .dates import FhirDate, parse_date
from .record import PatientRecord
from .resources import Allergy, Condition, Encounter, Immunization, Observation

SHOWN_COUNTS = (40, 20, 10)
"""Findings shown, fewer where they are too long together."""
MAX_PAIRS = 50_000
"""Entries compared with each other; no real patient has more."""
INPATIENT_CLASSES = frozenset(("IMP", "ACUTE", "NONAC"))
ONGOING_STATUSES = frozenset(("active", "recurrence", "relapse"))


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


def check_intervals(record: PatientRecord) -> dict[str, Any]:
    """Return the findings about the dates of a record."""
    spans = list(_list_spans(record))
    clashes, failures = _check_span_pairs(record)
    clashes = [*_check_single_spans(record, spans), *clashes]
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
    reply = ToolReport(lines=[record.heading, ""], failures=list(failures))
    reply.lines.append(f"{found} among {format_count(len(dated), 'dated resource')}.")
    begun = sorted((span for span in dated if span.start), key=_get_start_timestamp)
    for word, span in zip(("Oldest", "Newest"), (begun[:1] + begun[-1:]), strict=False):
        told = f"{word} entry: {span.title}, {span.start.day if span.start else ''}"
        reply.lines.append(f"- {told} ({span.name})")
        reply.add_claim(told, record.cite(span.name))
    for clash in clashes[:most]:
        reply.lines.append(f"- {clash.message} ({clash.name})")
        reply.add_finding(clash.severity, clash.message, record.cite(clash.name))
    if len(clashes) > most:
        reply.gaps.append(f"{len(clashes) - most} more conflicts of dates are not shown.")
    if undated := [span.name for span in spans if not (span.start or span.end)]:
        reply.gaps.append(f"Without a date, so not checked: {join_names(undated)}.")
    reply.gaps += record.list_gaps(_CHECKED_TYPES)
    return reply


_CHECKED_TYPES = (
    *("Patient", "Condition", "AllergyIntolerance", "Encounter", "Immunization", "Observation"),
    *("MedicationRequest", "MedicationStatement"),
)


def _get_start_timestamp(span: DatedSpan) -> float:
    return _get_earliest_time(span.start).timestamp() if span.start else 0.0


def _get_earliest_time(when: FhirDate) -> datetime:
    return when.earliest


def _list_spans(record: PatientRecord) -> Iterator[DatedSpan]:
    for condition in record.list_entries(Condition):
        is_active = condition.value.clinical.find_code() in ONGOING_STATUSES
        title = f"{condition.value.code.label} (condition)"
        yield _build_span(condition.name, title, condition.value.active_period, is_active)
    for allergy in record.list_entries(Allergy):
        start = Period(start=allergy.value.onset_date or allergy.value.recorded_date)
        yield _build_span(allergy.name, f"{allergy.value.code.label} (allergy)", start)
    for given in record.list_entries(Immunization):
        title = f"{given.value.vaccine.label} (immunization)"
        yield _build_span(given.name, title, Period(start=given.value.occurrence_date))
    for result in record.list_entries(Observation):
        when = result.value.observed_on
        yield DatedSpan(result.name, f"{result.value.code.label} (observation)", when, when)
    yield from _list_stays(record)
    yield from (
        _build_span(c.name, c.title, c.span, c.status == "active") for c in list_courses(record)
    )


def _list_stays(record: PatientRecord, classes: Iterable[str] = ()) -> Iterator[DatedSpan]:
    for stay in record.list_entries(Encounter):
        if not classes or stay.value.kind.code in classes:
            words = next((concept.label for concept in stay.value.type), "")
            is_active = stay.value.status in ("arrived", "in-progress", "onleave", "triaged")
            words = words or stay.value.kind.display or stay.value.kind.code
            yield _build_span(stay.name, f"{words} (encounter)", stay.value.period, is_active)


def _build_span(name: str, title: str, period: Period, is_active: bool = False) -> DatedSpan:
    return DatedSpan(name, title, period.start_date, period.end_date, is_active)


def _check_single_spans(record: PatientRecord, spans: list[DatedSpan]) -> Iterator[DateConflict]:
    """Check each interval against itself, the patient's life, and the newest date of the record."""
    person = record.patient_resource
    born = parse_date(person.birth_date) if person else None
    died = parse_date(person.deceased_date) if person else None
    newest = max((span.start for span in spans if span.start), key=_get_earliest_time, default=None)
    for span in spans:
        first, last = span.start, span.end
        if first and last and last.is_before(first):
            message = f"{span.title} ends on {last.day}, before it begins on {first.day}"
            yield DateConflict("medium", span.name, message)
        if born and any(date.is_before(born) for date in (first, last) if date):
            yield DateConflict(
                "medium", span.name, f"{span.title} is dated before birth ({born.day})"
            )
        if died and first and died.is_before(first):
            message = f"{span.title} begins on {first.day}, after death ({died.day})"
            yield DateConflict("medium", span.name, message)
        if span.is_active and last and newest and last.is_before(newest):
            message = (
                f"{span.title} is called active, but ended on {last.day}; the record continues to "
                f"{newest.day}"
            )
            yield DateConflict("low", span.name, message)


def _check_span_pairs(record: PatientRecord) -> tuple[list[DateConflict], list[str]]:
    """Compare hospital stays with stays, and courses of one medicine with each other.

    Medicines that are current twice are reported by the medication list.

    Returns:
        The conflicts, and in words what was not compared.
    """
    stays = list(islice(combinations(_list_stays(record, INPATIENT_CLASSES), 2), MAX_PAIRS + 1))
    same = list(islice(pair_same_medicines(list_courses(record)), MAX_PAIRS + 1))
    clashes = [
        DateConflict("medium", other.name, f"{other.title} overlaps {one.title} ({one.name})")
        for one, other in stays[:MAX_PAIRS]
        if one.overlaps(other)
    ]
    for left, right in same[:MAX_PAIRS]:
        one, other = (_build_span(c.name, c.title, c.span) for c in (left, right))
        if not (left.is_current and right.is_current) and one.overlaps(other):
            message = f"{other.title} overlaps another course of it ({one.name})"
            clashes.append(DateConflict("low", other.name, message))
    sizes = {"stays": len(stays), "courses of one medicine": len(same)}
    long = [name for name, size in sizes.items() if size > MAX_PAIRS]
    return clashes, [f"only {MAX_PAIRS:,} pairs of {name} were compared" for name in long]
