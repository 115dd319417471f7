"""Escalate what a record cannot answer: advice, a diagnosis, a prognosis, other subjects."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.terms import extract_terms
from nodes.tools.framework.out_of_scope import escalate_out_of_scope, find_foreign_words
from nodes.tools.framework.tool_report import join_names

from .bundle import read_record
from .record import PatientRecord

_ADVICE_REQUEST = Pattern(
    r"\bshould\b[^.]{0,80}\?"
    r"|^(?:please )?(?:increase|raise|reduce|lower|adjust|stop|start|switch|order|diagnose|treat)\b"
    r"|\bprescribe\b|\brecommend\w*|\badvi[cs]e\b|\bdiagnose\b|\bprognos\w+|\blife expectancy\b"
    r"|\bis (?:it|this|that) (?:safe|dangerous|serious|cancer)\b|\bsafe (?:to|for)\b"
    r"|\bcan (?:she|he|they|i|we|the patient) (?:take|have|get|stop)\b"
    r"|\btreatment (?:plan|option|recommendation)",
    re.IGNORECASE,
)
_RECORD_REQUEST = Pattern(
    r"\b(?:summar|list|show|overview|history|trend|timeline|record|develop)", re.IGNORECASE
)
_VOCABULARY = extract_terms("""
admission age allergy birth blood bundle checkup cholesterol chronic clinic clinical code
condition conflict consistent consultation date diagnoses diagnosis disease doctor dose drug
duplicate encounter end fhir gender glucose health heart history hospital illness immunization
inconsistent infection inpatient interval intolerance kidney lab laboratory lipid liver loinc
medical medication medicine observation overlap patient pill prescription pressure reaction
record resource sex start stay symptom tablet test therapy timeline treatment trend vaccination
vaccine visit vital weight
""")


async def answer_from_record(
    question: str,
    material: str,
    materials: Mapping[str, str] | None,
    tell: Callable[[PatientRecord], dict[str, Any]],
) -> dict[str, Any]:
    """Read a record and report what is asked of it, or escalate what it cannot answer.

    Raises:
        ToolRefused: the material is not a record of one patient.
    """
    record = await read_record(material, materials)
    return await asyncio.to_thread(_answer_in_scope, question, record, tell)


def _answer_in_scope(
    question: str, record: PatientRecord, tell: Callable[[PatientRecord], dict[str, Any]]
) -> dict[str, Any]:
    wants_advice = bool(_ADVICE_REQUEST.search(question))
    if wants_advice and not _RECORD_REQUEST.search(question):
        return escalate_out_of_scope(
            "advice, diagnosis and prognosis are for a clinician; ask what is recorded"
        )
    if words := find_foreign_words(question, _VOCABULARY, _iterate_texts(record)):
        return escalate_out_of_scope(f"a patient's record says nothing of {join_names(words)}")
    told = tell(record)
    if wants_advice:
        told["gaps"] = [*told["gaps"], "Advice was asked for as well: that is for a clinician."]
    return told


def _iterate_texts(record: PatientRecord) -> Iterator[str]:
    """Return every text in what was read."""
    held: list[Any] = [entry.value.model_dump() for entry in record.entries]
    while held:
        match held.pop():
            case str(text):
                yield text
            case dict(values):
                held += values.values()
            case list(items) | tuple(items):
                held += items
