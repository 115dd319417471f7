"""The record of a patient in words: conditions, allergies, encounters, immunizations."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nodes.tools.fhir.bundle import KINDS
from nodes.tools.fhir.datatypes import Concept, Period
from nodes.tools.fhir.moments import day
from nodes.tools.fhir.record import Entry, Record
from nodes.tools.fhir.resources import Allergy, Condition, Encounter, Immunization
from nodes.tools.replies import Reply, counted, fitted

SIZES = (40, 25, 15, 8)
"""Entries shown of each kind, fewer where they are too long together."""


@dataclass(frozen=True)
class _Line:
    """One resource in words."""

    name: str
    words: str
    date: str
    quote: str
    """What of it the resource has in these words."""
    is_current: bool = True


def history(record: Record) -> dict[str, Any]:
    """Tell a record, current matters first, then the newest."""
    sections = {
        "Condition": [_condition(entry) for entry in record.all(Condition)],
        "Allergy or intolerance": [_allergy(entry) for entry in record.all(Allergy)],
        "Encounter": [_encounter(entry) for entry in record.all(Encounter)],
        "Immunization": [_immunization(entry) for entry in record.all(Immunization)],
    }
    return fitted(lambda most: _told(record, sections, most), SIZES)


def _told(record: Record, sections: dict[str, list[_Line]], most: int) -> Reply:
    reply = Reply(lines=[record.heading, "", _contents(record)])
    if record.person is not None:
        reply.claim(f"Patient: {record.person.words}", record.cite(record.patient))
    for title, lines in sections.items():
        _tell(reply, record, title, lines, most)
    reply.gaps += record.gaps(KINDS.keys() | {each.kind for each in record.left_out})
    return reply


def _tell(reply: Reply, record: Record, title: str, lines: list[_Line], most: int) -> None:
    plural = _PLURALS[title]
    if not lines:
        reply.gaps.append(
            f"{record.source} records no {plural.lower()}; that does not mean that there are none."
        )
        return
    ranked = sorted(lines, key=lambda line: (line.is_current, line.date), reverse=True)
    reply.lines += ["", f"### {plural}", ""]
    for line in ranked[:most]:
        reply.lines.append(f"- {line.words} ({line.name})")
        reply.claim(f"{title}: {line.words}", record.cite(line.name), line.quote)
    if len(ranked) > most:
        reply.gaps.append(
            f"{len(ranked) - most} of {len(ranked)} {plural.lower()} of {record.source} are not "
            "shown, the oldest."
        )


_PLURALS = {
    "Condition": "Conditions",
    "Allergy or intolerance": "Allergies and intolerances",
    "Encounter": "Encounters",
    "Immunization": "Immunizations",
}


def _contents(record: Record) -> str:
    total = counted(sum(record.counts.values()), "resource")
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(record.counts.items()))
    return f"{record.source} holds {total}: {kinds}."


def _condition(entry: Entry[Condition]) -> _Line:
    condition = entry.value
    clinical = condition.clinical.code() or "status not stated"
    onset = "" if _period(condition.span) else condition.onset_words
    parts = [clinical, _unless(condition.verification.code(), "confirmed")]
    parts += [_period(condition.span) or (f"since {onset}" if onset else "onset not stated")]
    is_current = clinical not in ("inactive", "remission", "resolved")
    return _line(entry, condition.code, parts, condition.span.start, is_current)


def _allergy(entry: Entry[Allergy]) -> _Line:
    allergy = entry.value
    clinical = allergy.clinical.code() or "status not stated"
    verified = allergy.verification.code() or "not stated to be confirmed"
    parts = [clinical, verified]
    parts += [f"criticality {allergy.criticality}" if allergy.criticality else ""]
    parts += [f"since {day(allergy.onset_date)}" if day(allergy.onset_date) else ""]
    for reaction in allergy.reaction:
        signs = ", ".join(concept.words for concept in reaction.manifestation)
        severity = f" ({reaction.severity})" if reaction.severity else ""
        parts.append(f"reaction: {signs or 'not described'}{severity}")
    is_current = clinical not in ("inactive", "resolved")
    date = allergy.onset_date or allergy.recorded_date
    return _line(entry, allergy.code, parts, date, is_current)


def _encounter(entry: Entry[Encounter]) -> _Line:
    encounter = entry.value
    concept = next(iter(encounter.type), Concept(text="Encounter"))
    kind = encounter.kind.display or encounter.kind.code
    parts = [kind, encounter.status, _period(encounter.period) or "not dated"]
    parts += [f"for {concept.words}" for concept in encounter.reason]
    return _line(entry, concept, parts, encounter.period.start)


def _immunization(entry: Entry[Immunization]) -> _Line:
    given = entry.value
    when = day(given.occurrence_date) or given.occurrence_words or "not dated"
    return _line(entry, given.vaccine, [given.status, when], given.occurrence_date)


def _line(
    entry: Entry[Any], concept: Concept, parts: Iterable[str], date: str, is_current: bool = True
) -> _Line:
    words = f"{concept.titled}: {', '.join(filter(None, parts))}"
    return _Line(entry.name, words, day(date), concept.words, is_current)


def _period(period: Period) -> str:
    """Write a period out in days; empty where neither end is known."""
    start, end = day(period.start), day(period.end)
    if start and end:
        return f"on {start}" if start == end else f"{start} to {end}"
    return f"since {start}" if start else f"until {end}" if end else ""


def _unless(word: str, usual: str) -> str:
    return "" if word == usual else word or f"not stated to be {usual}"
