"""Report a medication list: what is taken by status, what is listed twice, what is missing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .record import PatientRecord, RecordEntry
from .values import (
    JsonObject,
    Period,
    format_concept,
    format_day,
    format_number,
    format_quantity,
    get_label,
    get_part,
    read_period,
)

SHOWN_COUNTS = (200, 100, 50, 30)
"""Courses shown, fewer where they are too long together."""
MAX_DUPLICATES = 20
USE_KINDS = ("MedicationRequest", "MedicationStatement")
NO_DOSE = "no dose stated"
NO_DATE = "not dated"

MedicationStatus = Literal[
    "active",
    "on-hold",
    "intended",
    "draft",
    "stopped",
    "completed",
    "cancelled",
    "not-taken",
    "unknown",
]
STATUSES: tuple[str, ...] = get_args(MedicationStatus)
CURRENT_STATUSES = frozenset(STATUSES[:3])


@dataclass(frozen=True)
class MedicationCourse:
    """One resource about one medicine."""

    name: str
    kind: str
    medicine: JsonObject
    status: str
    dose: str
    """As the resource has it; `no dose stated` if it has none."""
    span: Period
    """When it is to be taken; else when the prescription is valid."""
    recorded_on: str
    """When it was ordered or asserted."""
    details: list[str]
    """What the resource states beside the medicine, in words."""

    @property
    def is_current(self) -> bool:
        return self.status in CURRENT_STATUSES

    @property
    def medicine_keys(self) -> frozenset[tuple[str, str]]:
        """Return what identifies a medicine: its codes and its words, not its ingredient."""
        codings = self.medicine.get("coding", [])
        codes = {(c.get("system", ""), c["code"]) for c in codings if c.get("code")}
        words = get_label(self.medicine).casefold()
        return frozenset(codes | ({("words", words)} if words else set()))


def list_courses(record: PatientRecord) -> list[MedicationCourse]:
    """Return every medication course of a record."""
    substances = {entry.name: entry.resource for entry in record.list_entries("Medication")}
    return [_build_course(record, entry, substances) for entry in record.list_entries(*USE_KINDS)]


def pair_same_medicines(
    held: Iterable[MedicationCourse],
) -> Iterator[tuple[MedicationCourse, MedicationCourse]]:
    """Return each pair of courses of the same medicine."""
    keyed = [(course, course.medicine_keys) for course in held]
    for (one, ours), (other, theirs) in combinations(keyed, 2):
        if ours & theirs:
            yield one, other


def report_medicines(
    record: PatientRecord,
    status: Annotated[
        list[MedicationStatus], Field(description="Statuses to list; all if empty")
    ] = [],  # noqa: B006  # pydantic copies it
) -> dict[str, Any]:
    """List medicines by status, with dose text and dates, and those that are listed twice.

    Doses are quoted as the resource has them; nothing is computed or recommended. Cite a source as
    given, such as `bundle.json#MedicationRequest/m1`.
    Example: medication_list(material="bundle.json", status=["active", "on-hold"])
    """
    held = list_courses(record)
    wanted = [course for course in held if not status or course.status in status]
    wanted.sort(key=lambda course: course.span.start or course.recorded_on, reverse=True)
    wanted.sort(key=lambda course: STATUSES.index(course.status))
    return fit_to_size(lambda most: _build_report(record, held, wanted, most), SHOWN_COUNTS)


def _build_report(
    record: PatientRecord, held: list[MedicationCourse], wanted: list[MedicationCourse], most: int
) -> ToolReport:
    told = _count_statuses(held)
    number = format_count(len(held), "medicine entry", "medicine entries")
    report = record.begin_report(f"{number}{f': {told}' if told else ''}.", "")
    for course in wanted[:most]:
        details = ", ".join(filter(None, course.details))
        text = f"{course.kind}: {format_concept(course.medicine)}: {details}"
        record.add_statement(report, course.name, text, get_label(course.medicine))
    if len(wanted) > most:
        report.gaps.append(f"{len(wanted) - most} of {len(wanted)} entries are not shown.")
    if others := _count_statuses(course for course in held if course not in wanted):
        report.gaps.append(f"Not listed, because their status was not asked for: {others}.")
    _report_duplicates(report, record, held)
    report.gaps += _list_gaps(record, held)
    report.gaps += record.list_gaps((*USE_KINDS, "Medication"))
    return report


def _count_statuses(held: Iterable[MedicationCourse]) -> str:
    counts = Counter(course.status for course in held)
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def _report_duplicates(
    report: ToolReport, record: PatientRecord, held: list[MedicationCourse]
) -> None:
    """Name medicines that are current more than once, at most the first pairs."""
    current = [course for course in held if course.is_current]
    found = list(islice(pair_same_medicines(current), MAX_DUPLICATES + 1))
    for one, other in found[:MAX_DUPLICATES]:
        both_ordered = one.kind == other.kind == USE_KINDS[0]
        report.add_finding(
            "medium" if both_ordered else "low",
            f"{format_concept(one.medicine)} is {one.status} in {one.name} ({one.dose}) and "
            f"{other.status} in {other.name} ({other.dose}).",
            record.cite(other.name),
            "Ask whether both are meant."
            if both_ordered
            else "An order and what the patient states may be the same medicine.",
        )
    if len(found) > MAX_DUPLICATES:
        report.gaps.append("More medicines are current twice than are named.")


def _list_gaps(record: PatientRecord, held: list[MedicationCourse]) -> Iterator[str]:
    if not held:
        yield (
            f"{record.source} records no medicines (no MedicationRequest, no MedicationStatement); "
            "that does not mean that nothing is taken."
        )
        return
    lacks = {
        "No dose is stated": [c.name for c in held if c.is_current and c.dose == NO_DOSE],
        "No date is stated": [c.name for c in held if NO_DATE in c.details],
        "No code, only words, so compared by their words": [
            c.name for c in held if not c.medicine.get("coding")
        ],
    }
    yield from (f"{what}: {join_names(names)}." for what, names in lacks.items() if names)
    yield (
        "The same medicine is found by equal code or equal words only, not by ingredient or class; "
        "interactions, allergies and doses are not checked."
    )


def _build_course(
    record: PatientRecord, entry: RecordEntry, substances: Mapping[str, JsonObject]
) -> MedicationCourse:
    use, intent = entry.resource, entry.resource.get("intent", "")
    dosages = use.get("dosageInstruction") or use.get("dosage", [])
    taken = _find_period(use, dosages)
    span = taken or read_period(get_part(use, "dispenseRequest"), "validityPeriod")
    status = next((known for known in STATUSES if known == use.get("status")), "unknown")
    dose = "; ".join(filter(None, map(_describe_dose, dosages))) or NO_DOSE
    recorded_on = use.get("authoredOn") or use.get("dateAsserted", "")
    noted, reasons = format_day(recorded_on), use.get("statusReason", [])
    reason = ", ".join(map(get_label, [reasons] if isinstance(reasons, dict) else reasons))
    details = [
        dose,
        status,
        f"{'' if taken else 'prescription valid '}{span}" if str(span) else "",
        f"{'ordered' if entry.kind == USE_KINDS[0] else 'stated'} {noted}" if noted else "",
        f"reason: {reason}" if reason else "",
        "" if intent == "order" else intent,
        "" if str(span) or noted else NO_DATE,
    ]
    medicine = _resolve_medicine(record, use, substances)
    return MedicationCourse(
        entry.name, entry.kind, medicine, status, dose, span, recorded_on, details
    )


def _resolve_medicine(
    record: PatientRecord, use: JsonObject, substances: Mapping[str, JsonObject]
) -> JsonObject:
    """Return the medicine's concept; a reference is resolved within the bundle."""
    if "medicationCodeableConcept" in use:
        return get_part(use, "medicationCodeableConcept")
    reference = get_part(use, "medicationReference")
    target = record.references.resolve(reference)
    if target in substances:
        return get_part(substances[target], "code")
    named = target or reference.get("reference", "")
    return {"text": reference.get("display") or f"medicine of {named}"}


def _find_period(use: JsonObject, dosages: Iterable[JsonObject]) -> Period:
    """Return the period of the statement or of the dosage; empty if neither has one."""
    repeats = (get_part(dosage, "timing", "repeat") for dosage in dosages)
    known = [read_period(use, "effectivePeriod"), Period(use.get("effectiveDateTime", ""))]
    known += [read_period(repeat, "boundsPeriod") for repeat in repeats]
    return next(filter(None, known), Period())


def _describe_dose(dosage: JsonObject) -> str:
    """Return the dose in the resource's own words, else those of its parts that are read here."""
    if words := dosage.get("text") or dosage.get("patientInstruction"):
        return str(words)
    repeat = get_part(dosage, "timing", "repeat")
    doses = [get_part(dose, "doseQuantity") for dose in dosage.get("doseAndRate", [])]
    parts = [format_quantity(dose) for dose in doses if dose]
    parts.append(get_label(get_part(dosage, "timing", "code")))
    if repeat.get("frequency") and repeat.get("period"):
        every = f"{format_number(repeat['period'])} {repeat.get('periodUnit', '')}"
        parts.append(f"{format_number(repeat['frequency'])} x per {every}")
    if "asNeededCodeableConcept" in dosage:
        parts.append(f"as needed for {get_label(get_part(dosage, 'asNeededCodeableConcept'))}")
    elif dosage.get("asNeededBoolean"):
        parts.append("as needed")
    told = ", ".join(filter(None, (*parts, get_label(get_part(dosage, "route")))))
    return f"{told} (from its fields, which may say more)" if told else ""
