"""Requests for and statements of a medicine, as courses that can be listed and compared."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from nodes.tools.fhir.datatypes import Concept, Period, plain_number
from nodes.tools.fhir.record import Entry, Record
from nodes.tools.fhir.resources import Dosage, Medication, Substance

STATUSES = {
    "active": "Active",
    "on-hold": "On hold",
    "intended": "Intended",
    "draft": "Drafts",
    "stopped": "Stopped",
    "completed": "Completed",
    "cancelled": "Cancelled",
    "not-taken": "Not taken",
    "unknown": "Status unknown",
}
CURRENT = frozenset(("active", "on-hold", "intended"))


@dataclass(frozen=True)
class Course:
    """One resource on one medicine."""

    name: str
    kind: str
    medicine: Concept
    status: str
    dose: str
    span: Period
    """When it is to be taken; else when the prescription is valid."""
    is_validity: bool
    noted: str
    """When it was ordered or asserted."""
    reason: str
    """Why it has its status."""
    intent: str

    @property
    def title(self) -> str:
        return self.medicine.titled

    @property
    def is_request(self) -> bool:
        return self.kind == "MedicationRequest"

    @property
    def is_current(self) -> bool:
        return self.status in CURRENT

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        """Give what tells a medicine from another: its codes and its words, not its ingredient."""
        codes = {(coding.system, coding.code) for coding in self.medicine.coding if coding.code}
        words = self.medicine.words.casefold()
        return frozenset(codes | ({("words", words)} if words else set()))


def courses(record: Record) -> list[Course]:
    """Give every course of a record."""
    substances = {entry.name: entry.value for entry in record.all(Substance)}
    return [_course(record, entry, substances) for entry in record.all(Medication)]


def pairs(held: Iterable[Course]) -> Iterator[tuple[Course, Course]]:
    """Give each two courses of the same medicine."""
    keyed = [(course, course.keys) for course in held]
    for (one, ours), (other, theirs) in combinations(keyed, 2):
        if ours & theirs:
            yield one, other


def _course(record: Record, entry: Entry[Medication], substances: dict[str, Substance]) -> Course:
    medication = entry.value
    dosages = medication.instructions or medication.dosage
    span = _span(medication, dosages)
    return Course(
        name=entry.name,
        kind=entry.kind,
        medicine=_medicine(record, medication, substances),
        status=medication.status or "unknown",
        dose="; ".join(filter(None, map(_dose, dosages))),
        span=span or medication.dispense.validity,
        is_validity=span is None,
        noted=medication.authored or medication.asserted,
        reason=", ".join(concept.words for concept in medication.status_reason),
        intent=medication.intent,
    )


def _medicine(record: Record, medication: Medication, substances: dict[str, Substance]) -> Concept:
    """Give what is taken; a reference is followed within the bundle."""
    if medication.concept is not None:
        return medication.concept
    reference = medication.reference
    target = record.directory.resolve(reference.reference)
    if target in substances:
        return substances[target].code
    return Concept(text=reference.display or f"medicine of {target or reference.reference}")


def _span(medication: Medication, dosages: Iterable[Dosage]) -> Period | None:
    """Give the period of the statement or of the dosage; None where neither has one."""
    stated = Period(start=medication.effective_date)
    bounds = [dosage.timing.repeat.bounds for dosage in dosages]
    known = (medication.effective_period, stated, *bounds)
    return next((period for period in known if period.start or period.end), None)


def _dose(dosage: Dosage) -> str:
    """Give the dose in the resource's own words, else those of its parts that are read here."""
    if dosage.text or dosage.instruction:
        return dosage.text or dosage.instruction
    repeat = dosage.timing.repeat
    parts = [dose.quantity.shown for dose in dosage.doses if dose.quantity]
    parts.append(dosage.timing.code.words)
    if repeat.frequency and repeat.period:
        parts.append(f"{repeat.frequency} x per {plain_number(repeat.period)} {repeat.period_unit}")
    if dosage.as_needed or dosage.as_needed_for:
        cause = dosage.as_needed_for.words if dosage.as_needed_for else ""
        parts.append(f"as needed for {cause}" if cause else "as needed")
    told = ", ".join(filter(None, (*parts, dosage.route.words)))
    return f"{told} (from its fields, which may say more)" if told else ""
