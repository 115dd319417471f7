"""The dates of a record, held against each other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, islice
from typing import Any

from nodes.tools.fhir.courses import courses, pairs
from nodes.tools.fhir.datatypes import Period
from nodes.tools.fhir.moments import Moment, moment
from nodes.tools.fhir.record import Record
from nodes.tools.fhir.resources import Allergy, Condition, Encounter, Immunization, Observation
from nodes.tools.replies import Reply, counted, fitted, listed
from state import Severity

SIZES = (40, 20, 10)
"""Findings shown, fewer where they are too long together."""
MAX_PAIRS = 50_000
"""Compared with each other; a record with more is no person's."""
INPATIENT = frozenset(("IMP", "ACUTE", "NONAC"))
GOING_ON = frozenset(("active", "recurrence", "relapse"))


@dataclass(frozen=True)
class Span:
    """What a resource says of when it was."""

    name: str
    title: str
    first: Moment | None
    last: Moment | None
    is_active: bool = False
    """It is said to go on."""

    def overlaps(self, other: "Span") -> bool:
        """Say whether two closed spans certainly share more than a day's border."""
        if not (self.first and self.last and other.first and other.last):
            return False
        return self.first.is_before(other.last) and other.first.is_before(self.last)


@dataclass(frozen=True)
class Clash:
    """A date that cannot be right, or two that do not go together."""

    severity: Severity
    name: str
    message: str


def intervals(record: Record) -> dict[str, Any]:
    """Tell what is wrong with the dates of a record."""
    spans = list(_spans(record))
    clashes, failures = _together(record)
    clashes = [*_singly(record, spans), *clashes]
    return fitted(lambda most: _told(record, spans, clashes, failures, most), SIZES)


def _told(
    record: Record, spans: list[Span], clashes: list[Clash], failures: list[str], most: int
) -> Reply:
    dated = [span for span in spans if span.first or span.last]
    found = counted(len(clashes), "conflict")
    reply = Reply(lines=[record.heading, ""], failures=list(failures))
    reply.lines.append(f"{found} among {counted(len(dated), 'dated resource')}.")
    begun = sorted((span for span in dated if span.first), key=_begin)
    for word, span in zip(("Oldest", "Newest"), (begun[:1] + begun[-1:]), strict=False):
        told = f"{word} entry: {span.title}, {span.first.day if span.first else ''}"
        reply.lines.append(f"- {told} ({span.name})")
        reply.claim(told, record.cite(span.name))
    for clash in clashes[:most]:
        reply.lines.append(f"- {clash.message} ({clash.name})")
        reply.finding(clash.severity, clash.message, record.cite(clash.name))
    if len(clashes) > most:
        reply.gaps.append(f"{len(clashes) - most} more conflicts of dates are not shown.")
    if undated := [span.name for span in spans if not (span.first or span.last)]:
        reply.gaps.append(f"Without a date, so not checked: {listed(undated)}.")
    reply.gaps += record.gaps(_KINDS)
    return reply


_KINDS = (
    *("Patient", "Condition", "AllergyIntolerance", "Encounter", "Immunization", "Observation"),
    *("MedicationRequest", "MedicationStatement"),
)


def _begin(span: Span) -> float:
    return _starts(span.first).timestamp() if span.first else 0.0


def _starts(when: Moment) -> datetime:
    return when.first


def _spans(record: Record) -> Iterator[Span]:
    for condition in record.all(Condition):
        is_active = condition.value.clinical.code() in GOING_ON
        title = f"{condition.value.code.words} (condition)"
        yield _span(condition.name, title, condition.value.span, is_active)
    for allergy in record.all(Allergy):
        start = Period(start=allergy.value.onset_date or allergy.value.recorded_date)
        yield _span(allergy.name, f"{allergy.value.code.words} (allergy)", start)
    for given in record.all(Immunization):
        title = f"{given.value.vaccine.words} (immunization)"
        yield _span(given.name, title, Period(start=given.value.occurrence_date))
    for result in record.all(Observation):
        when = result.value.when
        yield Span(result.name, f"{result.value.code.words} (observation)", when, when)
    yield from _stays(record)
    yield from (_span(c.name, c.title, c.span, c.status == "active") for c in courses(record))


def _stays(record: Record, classes: Iterable[str] = ()) -> Iterator[Span]:
    for stay in record.all(Encounter):
        if not classes or stay.value.kind.code in classes:
            words = next((concept.words for concept in stay.value.type), "")
            is_active = stay.value.status in ("arrived", "in-progress", "onleave", "triaged")
            words = words or stay.value.kind.display or stay.value.kind.code
            yield _span(stay.name, f"{words} (encounter)", stay.value.period, is_active)


def _span(name: str, title: str, period: Period, is_active: bool = False) -> Span:
    return Span(name, title, period.first, period.last, is_active)


def _singly(record: Record, spans: list[Span]) -> Iterator[Clash]:
    """Hold each span against itself, the patient's life, and the newest date of the record."""
    person = record.person
    born = moment(person.birth_date) if person else None
    died = moment(person.deceased_date) if person else None
    newest = max((span.first for span in spans if span.first), key=_starts, default=None)
    for span in spans:
        first, last = span.first, span.last
        if first and last and last.is_before(first):
            message = f"{span.title} ends on {last.day}, before it begins on {first.day}"
            yield Clash("medium", span.name, message)
        if born and any(date.is_before(born) for date in (first, last) if date):
            yield Clash("medium", span.name, f"{span.title} is dated before birth ({born.day})")
        if died and first and died.is_before(first):
            message = f"{span.title} begins on {first.day}, after death ({died.day})"
            yield Clash("medium", span.name, message)
        if span.is_active and last and newest and last.is_before(newest):
            message = (
                f"{span.title} is called active, but ended on {last.day}; the record goes on to "
                f"{newest.day}"
            )
            yield Clash("low", span.name, message)


def _together(record: Record) -> tuple[list[Clash], list[str]]:
    """Hold stays against stays, and courses of one medicine against each other.

    What is current twice is the medication list's matter.

    Returns:
        The clashes, and in words what was not compared.
    """
    stays = list(islice(combinations(_stays(record, INPATIENT), 2), MAX_PAIRS + 1))
    same = list(islice(pairs(courses(record)), MAX_PAIRS + 1))
    clashes = [
        Clash("medium", other.name, f"{other.title} overlaps {one.title} ({one.name})")
        for one, other in stays[:MAX_PAIRS]
        if one.overlaps(other)
    ]
    for left, right in same[:MAX_PAIRS]:
        one, other = (_span(c.name, c.title, c.span) for c in (left, right))
        if not (left.is_current and right.is_current) and one.overlaps(other):
            message = f"{other.title} overlaps another course of it ({one.name})"
            clashes.append(Clash("low", other.name, message))
    sizes = {"stays": len(stays), "courses of one medicine": len(same)}
    long = [name for name, size in sizes.items() if size > MAX_PAIRS]
    return clashes, [f"only {MAX_PAIRS:,} pairs of {name} were compared" for name in long]
