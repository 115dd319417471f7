"""Report a medication list: what is taken by status, what is listed twice, what is missing."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, Literal, get_args

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .dates import format_day
from .record import PatientRecord, RecordEntry
from .values import (
    JsonObject,
    Period,
    format_concept,
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
    span: Period
    """When it is to be taken; else when the prescription is valid."""
    is_prescription_validity: bool
    recorded_on: str
    """When it was ordered or asserted."""
    reason: str
    """Why it has its status."""
    intent: str

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
    record: PatientRecord, statuses: Collection[MedicationStatus] = ()
) -> dict[str, Any]:
    """Report the medicines of a record that have some statuses; all if none is named."""
    held = list_courses(record)
    wanted = [c for c in held if not statuses or c.status in statuses]
    wanted.sort(key=lambda course: course.span.start or course.recorded_on, reverse=True)
    wanted.sort(key=lambda course: STATUSES.index(course.status))
    return fit_to_size(lambda most: _build_report(record, held, wanted, most), SHOWN_COUNTS)


def _build_report(
    record: PatientRecord, held: list[MedicationCourse], wanted: list[MedicationCourse], most: int
) -> ToolReport:
    counts = Counter(course.status for course in held)
    told = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    number = format_count(len(held), "medicine entry", "medicine entries")
    reply = ToolReport(lines=[record.heading, "", f"{number}{f': {told}' if told else ''}.", ""])
    for course in wanted[:most]:
        told = f"{course.kind}: {_describe_course(course)}"
        reply.lines.append(f"- {told} ({course.name})")
        reply.add_claim(told, record.cite(course.name), get_label(course.medicine))
    if len(wanted) > most:
        reply.gaps.append(f"{len(wanted) - most} of {len(wanted)} entries are not shown.")
    if others := Counter(course.status for course in held if course not in wanted):
        left = ", ".join(f"{count} {status}" for status, count in others.items())
        reply.gaps.append(f"Not listed, because their status was not asked for: {left}.")
    _report_duplicates(reply, record, held)
    reply.gaps += _list_gaps(record, held)
    reply.gaps += record.list_gaps((*USE_KINDS, "Medication"))
    return reply


def _describe_course(course: MedicationCourse) -> str:
    start, end = format_day(course.span.start), format_day(course.span.end)
    noted = format_day(course.recorded_on)
    ends = " ".join(filter(None, (f"from {start}" * bool(start), f"until {end}" * bool(end))))
    parts = [
        course.dose or "no dose stated",
        course.status,
        f"{'prescription valid ' * course.is_prescription_validity}{ends}" if ends else "",
        f"{'ordered' if course.kind == USE_KINDS[0] else 'stated'} {noted}" if noted else "",
        f"reason: {course.reason}" if course.reason else "",
        course.intent if course.intent not in ("", "order") else "",
        "" if start or end or noted else "not dated",
    ]
    return f"{format_concept(course.medicine)}: {', '.join(filter(None, parts))}"


def _report_duplicates(
    reply: ToolReport, record: PatientRecord, held: list[MedicationCourse]
) -> None:
    """Name medicines that are current more than once, at most the first pairs."""
    current = [course for course in held if course.is_current]
    found = list(islice(pair_same_medicines(current), MAX_DUPLICATES + 1))
    for one, other in found[:MAX_DUPLICATES]:
        both_ordered = one.kind == other.kind == USE_KINDS[0]
        reply.add_finding(
            "medium" if both_ordered else "low",
            f"{format_concept(one.medicine)} is {one.status} in {one.name} "
            f"({one.dose or 'no dose stated'}) and {other.status} in {other.name} "
            f"({other.dose or 'no dose stated'}).",
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
    lacks = {
        "No dose is stated": [c.name for c in held if c.is_current and not c.dose],
        "No date is stated": [
            c.name for c in held if not (str(c.span) or format_day(c.recorded_on))
        ],
        "No code, only words, so compared by their words": [
            c.name for c in held if not c.medicine.get("coding")
        ],
    }
    for what, names in lacks.items():
        if names:
            yield f"{what}: {join_names(names)}."
    yield (
        "The same medicine is found by equal code or equal words only, not by ingredient or class; "
        "interactions, allergies and doses are not checked."
    )


def _build_course(
    record: PatientRecord, entry: RecordEntry, substances: Mapping[str, JsonObject]
) -> MedicationCourse:
    use = entry.resource
    dosages = use.get("dosageInstruction") or use.get("dosage", [])
    span = _find_period(use, dosages)
    status, reasons = use.get("status", ""), use.get("statusReason", [])
    return MedicationCourse(
        name=entry.name,
        kind=entry.kind,
        medicine=_resolve_medicine(record, use, substances),
        status=status if status in STATUSES else "unknown",
        dose="; ".join(filter(None, map(_describe_dose, dosages))),
        span=span or read_period(get_part(use, "dispenseRequest"), "validityPeriod"),
        is_prescription_validity=not span,
        recorded_on=use.get("authoredOn") or use.get("dateAsserted", ""),
        reason=", ".join(map(get_label, [reasons] if isinstance(reasons, dict) else reasons)),
        intent=use.get("intent", ""),
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
