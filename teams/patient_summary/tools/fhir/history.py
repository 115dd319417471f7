"""Report the history of a patient: conditions, allergies, encounters, immunizations."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .record import READ_KINDS, PatientRecord, RecordEntry
from .values import (
    JsonObject,
    Period,
    find_code,
    format_concept,
    format_day,
    get_label,
    get_part,
    read_period,
)

SHOWN_COUNTS = (40, 25, 15, 8)
"""Entries shown of each kind, fewer where they are too long together."""
ENDED_STATUSES = frozenset(("inactive", "remission", "resolved"))

Section = Literal["conditions", "allergies", "encounters", "immunizations"]
SECTION_KINDS: dict[Section, str] = {
    "conditions": "Condition",
    "allergies": "AllergyIntolerance",
    "encounters": "Encounter",
    "immunizations": "Immunization",
}


@dataclass(frozen=True)
class Statement:
    """What one resource states."""

    concept: JsonObject
    status: str
    period: Period
    details: list[str]
    """Its status and date, and what else its kind has, in words."""


def report_history(
    record: PatientRecord,
    sections: Annotated[
        list[Section], Field(description="What of the history to read; all if empty")
    ] = [],  # noqa: B006  # pydantic copies it
) -> dict[str, Any]:
    """Read patient, conditions, allergies, encounters and immunizations from a FHIR R4 bundle.

    Each claim names its resource, as `bundle.json#Condition/c1`: cite it so. Resources that are
    not valid, entered in error or without a stated patient are left out, and named in gaps. Other
    tools report laboratory values and medicines.
    Example: read_bundle(material="bundle.json", sections=["allergies"])
    """
    return fit_to_size(lambda most: _build_report(record, sections, most), SHOWN_COUNTS)


def _build_report(record: PatientRecord, sections: list[Section], most: int) -> ToolReport:
    total = format_count(sum(record.counts.values()), "resource")
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(record.counts.items()))
    report = record.begin_report(f"{record.source} holds {total}: {kinds}.", "")
    if record.person:
        report.add_claim(f"Patient: {record.full_name}", record.cite(record.patient))
    shown = [section for section in SECTION_KINDS if section in sections or not sections]
    for section in shown:
        _add_section(report, record, section, most)
    left_out = {"Patient", *(SECTION_KINDS[section] for section in shown)}
    if len(shown) == len(SECTION_KINDS):
        left_out |= {*READ_KINDS, *(each.kind for each in record.excluded)}
    report.gaps += record.list_gaps(left_out)
    return report


def _add_section(report: ToolReport, record: PatientRecord, section: Section, most: int) -> None:
    """Add the statements of a section, those that are current first, then the newest."""
    entries = record.list_entries(SECTION_KINDS[section])
    found = [(entry, read_statement(entry)) for entry in entries]
    found.sort(key=lambda pair: format_day(pair[1].period.start), reverse=True)
    found.sort(key=lambda pair: pair[1].status in ENDED_STATUSES)
    for entry, read in found[:most]:
        details = ", ".join(filter(None, read.details))
        told = f"{entry.kind}: {format_concept(read.concept)}: {details}"
        record.add_statement(report, entry.name, told, get_label(read.concept))
    if not found:
        report.gaps.append(
            f"{record.source} records no {section}; that does not mean that there are none."
        )
    if len(found) > most:
        report.gaps.append(
            f"{len(found) - most} of {len(found)} {section} of {record.source} are not shown, the "
            "oldest."
        )


def read_statement(entry: RecordEntry) -> Statement:
    """Return what a resource of one of the sections states."""
    return _READERS[entry.kind](entry.resource)


def _read_condition(condition: JsonObject) -> Statement:
    onset, abated = (read_period(condition, f"{name}Period") for name in ("onset", "abatement"))
    begun = condition.get("onsetDateTime", "") or onset.start
    period = Period(begun, condition.get("abatementDateTime", "") or abated.end or abated.start)
    words = condition.get("onsetString", "")
    since = str(period) or (f"since {words}" if words else "onset not stated")
    verified = find_code(get_part(condition, "verificationStatus"))
    clinical = find_code(get_part(condition, "clinicalStatus")) or "status not stated"
    doubt = "" if verified == "confirmed" else verified or "not stated to be confirmed"
    return Statement(get_part(condition, "code"), clinical, period, [clinical, doubt, since])


def _read_allergy(allergy: JsonObject) -> Statement:
    clinical = find_code(get_part(allergy, "clinicalStatus")) or "status not stated"
    verified = find_code(get_part(allergy, "verificationStatus"))
    onset, risk = Period(allergy.get("onsetDateTime", "")), allergy.get("criticality")
    details = [clinical, verified or "not stated to be confirmed"]
    details += [f"criticality {risk}" if risk else "", str(onset)]
    for reaction in allergy.get("reaction", []):
        signs = ", ".join(map(get_label, reaction.get("manifestation", [])))
        severity = f" ({reaction['severity']})" if "severity" in reaction else ""
        details.append(f"reaction: {signs or 'not described'}{severity}")
    period = onset or Period(allergy.get("recordedDate", ""))
    return Statement(get_part(allergy, "code"), clinical, period, details)


def _read_encounter(encounter: JsonObject) -> Statement:
    kind, period = get_part(encounter, "class"), read_period(encounter, "period")
    setting, status = kind.get("display") or kind.get("code", ""), encounter.get("status", "")
    reasons = [f"for {get_label(concept)}" for concept in encounter.get("reasonCode", [])]
    concept = next(iter(encounter.get("type", [])), {"text": setting})
    return Statement(
        concept, status, period, [setting, status, str(period) or "not dated", *reasons]
    )


def _read_immunization(given: JsonObject) -> Statement:
    when, status = given.get("occurrenceDateTime", ""), given.get("status", "")
    told = format_day(when) or given.get("occurrenceString", "") or "not dated"
    return Statement(get_part(given, "vaccineCode"), status, Period(when), [status, told])


_READERS: dict[str, Callable[[JsonObject], Statement]] = {
    "Condition": _read_condition,
    "AllergyIntolerance": _read_allergy,
    "Encounter": _read_encounter,
    "Immunization": _read_immunization,
}
