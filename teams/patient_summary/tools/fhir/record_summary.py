"""Summarize the record of a patient: conditions, allergies, encounters, immunizations."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .bundle import RESOURCE_MODELS
from .datatypes import Concept, Period
from .dates import format_day
from .record import PatientRecord, RecordEntry
from .resources import Allergy, Condition, Encounter, Immunization

SHOWN_COUNTS = (40, 25, 15, 8)
"""Entries shown of each kind, fewer where they are too long together."""


@dataclass(frozen=True)
class _RecordLine:
    """One resource as a line of the summary."""

    name: str
    text: str
    date: str
    quote: str
    """The part of it that is quoted from the resource."""
    is_current: bool = True


def summarize_record(record: PatientRecord) -> dict[str, Any]:
    """Summarize a record, current entries first, then the newest."""
    sections = {
        "Condition": [_describe_condition(entry) for entry in record.list_entries(Condition)],
        "Allergy or intolerance": [
            _describe_allergy(entry) for entry in record.list_entries(Allergy)
        ],
        "Encounter": [_describe_encounter(entry) for entry in record.list_entries(Encounter)],
        "Immunization": [
            _describe_immunization(entry) for entry in record.list_entries(Immunization)
        ],
    }
    return fit_to_size(lambda most: _build_report(record, sections, most), SHOWN_COUNTS)


def _build_report(
    record: PatientRecord, sections: dict[str, list[_RecordLine]], most: int
) -> ToolReport:
    reply = ToolReport(lines=[record.heading, "", _describe_contents(record)])
    if record.patient_resource is not None:
        reply.add_claim(
            f"Patient: {record.patient_resource.full_name}", record.cite(record.patient)
        )
    for title, lines in sections.items():
        _add_section(reply, record, title, lines, most)
    reply.gaps += record.list_gaps(RESOURCE_MODELS.keys() | {each.kind for each in record.excluded})
    return reply


def _add_section(
    reply: ToolReport, record: PatientRecord, title: str, lines: list[_RecordLine], most: int
) -> None:
    plural = _PLURAL_TITLES[title]
    if not lines:
        reply.gaps.append(
            f"{record.source} records no {plural.lower()}; that does not mean that there are none."
        )
        return
    ranked = sorted(lines, key=lambda line: (line.is_current, line.date), reverse=True)
    reply.lines += ["", f"### {plural}", ""]
    for line in ranked[:most]:
        reply.lines.append(f"- {line.text} ({line.name})")
        reply.add_claim(f"{title}: {line.text}", record.cite(line.name), line.quote)
    if len(ranked) > most:
        reply.gaps.append(
            f"{len(ranked) - most} of {len(ranked)} {plural.lower()} of {record.source} are not "
            "shown, the oldest."
        )


_PLURAL_TITLES = {
    "Condition": "Conditions",
    "Allergy or intolerance": "Allergies and intolerances",
    "Encounter": "Encounters",
    "Immunization": "Immunizations",
}


def _describe_contents(record: PatientRecord) -> str:
    total = format_count(sum(record.counts.values()), "resource")
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(record.counts.items()))
    return f"{record.source} holds {total}: {kinds}."


def _describe_condition(entry: RecordEntry[Condition]) -> _RecordLine:
    condition = entry.value
    clinical = condition.clinical.find_code() or "status not stated"
    onset = "" if _format_period(condition.active_period) else condition.onset_words
    parts = [clinical, _format_unless_usual(condition.verification.find_code(), "confirmed")]
    parts += [
        _format_period(condition.active_period)
        or (f"since {onset}" if onset else "onset not stated")
    ]
    is_current = clinical not in ("inactive", "remission", "resolved")
    return _build_line(entry, condition.code, parts, condition.active_period.start, is_current)


def _describe_allergy(entry: RecordEntry[Allergy]) -> _RecordLine:
    allergy = entry.value
    clinical = allergy.clinical.find_code() or "status not stated"
    verified = allergy.verification.find_code() or "not stated to be confirmed"
    parts = [clinical, verified]
    parts += [f"criticality {allergy.criticality}" if allergy.criticality else ""]
    parts += [f"since {format_day(allergy.onset_date)}" if format_day(allergy.onset_date) else ""]
    for reaction in allergy.reaction:
        signs = ", ".join(concept.label for concept in reaction.manifestation)
        severity = f" ({reaction.severity})" if reaction.severity else ""
        parts.append(f"reaction: {signs or 'not described'}{severity}")
    is_current = clinical not in ("inactive", "resolved")
    date = allergy.onset_date or allergy.recorded_date
    return _build_line(entry, allergy.code, parts, date, is_current)


def _describe_encounter(entry: RecordEntry[Encounter]) -> _RecordLine:
    encounter = entry.value
    concept = next(iter(encounter.type), Concept(text="Encounter"))
    kind = encounter.kind.display or encounter.kind.code
    parts = [kind, encounter.status, _format_period(encounter.period) or "not dated"]
    parts += [f"for {concept.label}" for concept in encounter.reason]
    return _build_line(entry, concept, parts, encounter.period.start)


def _describe_immunization(entry: RecordEntry[Immunization]) -> _RecordLine:
    given = entry.value
    when = format_day(given.occurrence_date) or given.occurrence_words or "not dated"
    return _build_line(entry, given.vaccine, [given.status, when], given.occurrence_date)


def _build_line(
    entry: RecordEntry[Any],
    concept: Concept,
    parts: Iterable[str],
    date: str,
    is_current: bool = True,
) -> _RecordLine:
    words = f"{concept.label_with_code}: {', '.join(filter(None, parts))}"
    return _RecordLine(entry.name, words, format_day(date), concept.label, is_current)


def _format_period(period: Period) -> str:
    """Return a period in days; empty if neither end is known."""
    start, end = format_day(period.start), format_day(period.end)
    if start and end:
        return f"on {start}" if start == end else f"{start} to {end}"
    return f"since {start}" if start else f"until {end}" if end else ""


def _format_unless_usual(word: str, usual: str) -> str:
    return "" if word == usual else word or f"not stated to be {usual}"
