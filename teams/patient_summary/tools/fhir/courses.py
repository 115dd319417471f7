"""Read requests for and statements of a medicine as courses that can be listed and compared."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from .datatypes import Concept, Period, format_decimal
from .record import PatientRecord, RecordEntry
from .resources import Dosage, MedicationSubstance, MedicationUse

STATUS_TITLES = {
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
CURRENT_STATUSES = frozenset(("active", "on-hold", "intended"))


@dataclass(frozen=True)
class MedicationCourse:
    """One resource about one medicine."""

    name: str
    kind: str
    medicine: Concept
    status: str
    dose: str
    span: Period
    """When it is to be taken; else when the prescription is valid."""
    is_prescription_validity: bool
    recorded_on: str
    """When it was ordered or asserted."""
    reason: str
    """Why it has its status."""
    intent: str

    @property
    def title(self) -> str:
        return self.medicine.label_with_code

    @property
    def is_request(self) -> bool:
        return self.kind == "MedicationRequest"

    @property
    def is_current(self) -> bool:
        return self.status in CURRENT_STATUSES

    @property
    def medicine_keys(self) -> frozenset[tuple[str, str]]:
        """Return what identifies a medicine: its codes and its words, not its ingredient."""
        codes = {(coding.system, coding.code) for coding in self.medicine.coding if coding.code}
        words = self.medicine.label.casefold()
        return frozenset(codes | ({("words", words)} if words else set()))


def list_courses(record: PatientRecord) -> list[MedicationCourse]:
    """Return every medication course of a record."""
    substances = {entry.name: entry.value for entry in record.list_entries(MedicationSubstance)}
    return [
        _build_course(record, entry, substances) for entry in record.list_entries(MedicationUse)
    ]


def pair_same_medicines(
    held: Iterable[MedicationCourse],
) -> Iterator[tuple[MedicationCourse, MedicationCourse]]:
    """Return each pair of courses of the same medicine."""
    keyed = [(course, course.medicine_keys) for course in held]
    for (one, ours), (other, theirs) in combinations(keyed, 2):
        if ours & theirs:
            yield one, other


def _build_course(
    record: PatientRecord,
    entry: RecordEntry[MedicationUse],
    substances: dict[str, MedicationSubstance],
) -> MedicationCourse:
    medication = entry.value
    dosages = medication.instructions or medication.dosage
    span = _find_period(medication, dosages)
    return MedicationCourse(
        name=entry.name,
        kind=entry.kind,
        medicine=_resolve_medicine(record, medication, substances),
        status=medication.status or "unknown",
        dose="; ".join(filter(None, map(_describe_dose, dosages))),
        span=span or medication.dispense.validity,
        is_prescription_validity=span is None,
        recorded_on=medication.authored or medication.asserted,
        reason=", ".join(concept.label for concept in medication.status_reason),
        intent=medication.intent,
    )


def _resolve_medicine(
    record: PatientRecord, medication: MedicationUse, substances: dict[str, MedicationSubstance]
) -> Concept:
    """Return the medicine; a reference is resolved within the bundle."""
    if medication.concept is not None:
        return medication.concept
    reference = medication.reference
    target = record.references.resolve(reference.reference)
    if target in substances:
        return substances[target].code
    return Concept(text=reference.display or f"medicine of {target or reference.reference}")


def _find_period(medication: MedicationUse, dosages: Iterable[Dosage]) -> Period | None:
    """Return the period of the statement or of the dosage; None if neither has one."""
    stated = Period(start=medication.effective_date)
    bounds = [dosage.timing.repeat.bounds for dosage in dosages]
    known = (medication.effective_period, stated, *bounds)
    return next((period for period in known if period.start or period.end), None)


def _describe_dose(dosage: Dosage) -> str:
    """Return the dose in the resource's own words, else those of its parts that are read here."""
    if dosage.text or dosage.instruction:
        return dosage.text or dosage.instruction
    repeat = dosage.timing.repeat
    parts = [dose.quantity.display_text for dose in dosage.doses if dose.quantity]
    parts.append(dosage.timing.code.label)
    if repeat.frequency and repeat.period:
        parts.append(
            f"{repeat.frequency} x per {format_decimal(repeat.period)} {repeat.period_unit}"
        )
    if dosage.as_needed or dosage.as_needed_for:
        cause = dosage.as_needed_for.label if dosage.as_needed_for else ""
        parts.append(f"as needed for {cause}" if cause else "as needed")
    told = ", ".join(filter(None, (*parts, dosage.route.label)))
    return f"{told} (from its fields, which may say more)" if told else ""
