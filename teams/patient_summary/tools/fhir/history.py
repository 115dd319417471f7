"""Report the history of a patient: conditions, allergies, encounters, immunizations."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .bundle import READ_KINDS
from .dates import format_day
from .record import PatientRecord, RecordEntry
from .values import JsonObject, Period, find_code, format_concept, get_label, get_part, read_period

SHOWN_COUNTS = (40, 25, 15, 8)
"""Entries shown of each kind, fewer where they are too long together."""

Section = Literal["conditions", "allergies", "encounters", "immunizations"]


@dataclass(frozen=True)
class _Statement:
    """What one resource states."""

    concept: JsonObject
    parts: list[str]
    date: str
    is_current: bool = True


def report_history(record: PatientRecord, sections: Collection[Section] = ()) -> dict[str, Any]:
    """Report a record's history, current entries first, then the newest; all sections if none."""
    return fit_to_size(lambda most: _build_report(record, sections, most), SHOWN_COUNTS)


def _build_report(record: PatientRecord, sections: Collection[Section], most: int) -> ToolReport:
    total = format_count(sum(record.counts.values()), "resource")
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(record.counts.items()))
    reply = ToolReport(lines=[record.heading, "", f"{record.source} holds {total}: {kinds}.", ""])
    if record.person:
        reply.add_claim(f"Patient: {record.full_name}", record.cite(record.patient))
    shown = [section for section in _READERS if section in sections or not sections]
    for section in shown:
        _add_section(reply, record, section, most)
    left_out = {_READERS[section][0] for section in shown}
    if len(shown) == len(_READERS):
        left_out = {*READ_KINDS, *(each.kind for each in record.excluded)}
    reply.gaps += record.list_gaps({"Patient", *left_out})
    return reply


def _add_section(reply: ToolReport, record: PatientRecord, section: Section, most: int) -> None:
    kind, read = _READERS[section]
    found = [(entry, read(entry.resource)) for entry in record.list_entries(kind)]
    if not found:
        reply.gaps.append(
            f"{record.source} records no {section}; that does not mean that there are none."
        )
    found.sort(key=lambda pair: (pair[1].is_current, format_day(pair[1].date)), reverse=True)
    for entry, statement in found[:most]:
        _add_statement(reply, record, entry, statement)
    if len(found) > most:
        reply.gaps.append(
            f"{len(found) - most} of {len(found)} {section} of {record.source} are not shown, the "
            "oldest."
        )


def _add_statement(
    reply: ToolReport, record: PatientRecord, entry: RecordEntry, statement: _Statement
) -> None:
    told = f"{format_concept(statement.concept)}: {', '.join(filter(None, statement.parts))}"
    reply.lines.append(f"- {entry.kind}: {told} ({entry.name})")
    reply.add_claim(f"{entry.kind}: {told}", record.cite(entry.name), get_label(statement.concept))


def _read_condition(condition: JsonObject) -> _Statement:
    period = read_active_period(condition)
    words = condition.get("onsetString", "")
    onset = str(period) or (f"since {words}" if words else "onset not stated")
    verified = find_code(get_part(condition, "verificationStatus"))
    clinical = find_code(get_part(condition, "clinicalStatus")) or "status not stated"
    doubt = "" if verified == "confirmed" else verified or "not stated to be confirmed"
    is_current = clinical not in ("inactive", "remission", "resolved")
    concept = get_part(condition, "code")
    return _Statement(concept, [clinical, doubt, onset], period.start, is_current)


def read_active_period(condition: JsonObject) -> Period:
    """Return the period between a condition's onset and abatement."""
    onset, abated = (read_period(condition, f"{name}Period") for name in ("onset", "abatement"))
    ended = condition.get("abatementDateTime", "") or abated.end or abated.start
    return Period(condition.get("onsetDateTime", "") or onset.start, ended)


def _read_allergy(allergy: JsonObject) -> _Statement:
    clinical = find_code(get_part(allergy, "clinicalStatus")) or "status not stated"
    verified = find_code(get_part(allergy, "verificationStatus"))
    onset = format_day(allergy.get("onsetDateTime", ""))
    parts = [clinical, verified or "not stated to be confirmed"]
    parts += [f"criticality {allergy['criticality']}"] if "criticality" in allergy else []
    parts += [f"since {onset}"] if onset else []
    parts += _describe_reactions(allergy)
    dated = allergy.get("onsetDateTime") or allergy.get("recordedDate", "")
    is_current = clinical not in ("inactive", "resolved")
    return _Statement(get_part(allergy, "code"), parts, dated, is_current)


def _describe_reactions(allergy: JsonObject) -> Iterator[str]:
    for reaction in allergy.get("reaction", []):
        signs = ", ".join(map(get_label, reaction.get("manifestation", [])))
        severity = f" ({reaction['severity']})" if "severity" in reaction else ""
        yield f"reaction: {signs or 'not described'}{severity}"


def _read_encounter(encounter: JsonObject) -> _Statement:
    kind, period = get_part(encounter, "class"), read_period(encounter, "period")
    parts = [kind.get("display") or kind.get("code", ""), encounter.get("status", "")]
    parts += [str(period) or "not dated"]
    parts += [f"for {get_label(concept)}" for concept in encounter.get("reasonCode", [])]
    concept = next(iter(encounter.get("type", [])), {"text": "Encounter"})
    return _Statement(concept, parts, period.start)


def _read_immunization(given: JsonObject) -> _Statement:
    when = given.get("occurrenceDateTime", "")
    told = format_day(when) or given.get("occurrenceString", "") or "not dated"
    return _Statement(get_part(given, "vaccineCode"), [given.get("status", ""), told], when)


_READERS: dict[Section, tuple[str, Callable[[JsonObject], _Statement]]] = {
    "conditions": ("Condition", _read_condition),
    "allergies": ("AllergyIntolerance", _read_allergy),
    "encounters": ("Encounter", _read_encounter),
    "immunizations": ("Immunization", _read_immunization),
}
