"""Read a FHIR bundle as the record of one patient."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.errors import ToolFailed, ToolRefused
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.isolation import run_isolated_blocking
from nodes.tools.framework.materials import resolve_material_name
from nodes.tools.framework.tool_report import join_names

from .advice import find_advice_request
from .record import ExcludedResource, PatientRecord, RecordEntry
from .references import ReferenceIndex, name_entry
from .values import JsonObject, clean_json, get_part

VALIDATOR = f"{__package__}.validator:validate_bundle"
TIMEOUT_S = 60.0
KINDS_WITHOUT_SUBJECT = ("Patient", "Medication")
READ_KINDS = (
    *KINDS_WITHOUT_SUBJECT,
    *("Condition", "AllergyIntolerance", "Encounter", "Immunization", "Observation"),
    *("MedicationRequest", "MedicationStatement"),
)
"""Kinds of resources that are read; others are counted."""
TEST_DATA_LABEL = "HTEST"
"""The label of synthetic health data, made for tests."""

BundleName = Annotated[
    str,
    Format("file"),
    Field(description="Name of the FHIR bundle"),
]
Materials = Annotated[dict[str, str] | None, InjectedState("materials")]
Messages = Annotated[list[AnyMessage] | None, InjectedState("messages")]
"""The worker's conversation; it begins with its task."""


async def report_on_record(
    material: str,
    materials: Materials,
    messages: Messages,
    build_report: Callable[[PatientRecord], dict[str, Any]],
) -> dict[str, Any]:
    """Report on the record in a material; escalate a task that asks for a clinician's judgement.

    Raises:
        ToolFailed: reading took too long, or failed.
        ToolRefused: no such material, no bundle, an empty one, or not of exactly one patient.
    """
    name = resolve_material_name(material, materials)
    record = await asyncio.to_thread(_read_record_once, name, (materials or {})[name])
    if asked := find_advice_request(messages):
        message = f"{asked!r} is for a clinician to answer; ask what is recorded"
        return {"escalation": {"reason": "out_of_scope", "message": message}}
    return await asyncio.to_thread(build_report, record)


_read_lock = threading.Lock()


def _read_record_once(name: str, text: str) -> PatientRecord:
    """Read a bundle; one that several tools need at the same time is read once."""
    with _read_lock:
        found = _read_or_explain(name, text)
    if isinstance(found, str):
        raise ToolRefused(found)
    return found


@lru_cache(maxsize=4)
def _read_or_explain(name: str, text: str) -> PatientRecord | str:
    """Return the record, or why there is none; a refusal is cached too.

    A failure is not cached: the next reading may succeed.
    """
    try:
        return _read_bundle(name, text)
    except ToolRefused as refusal:
        return str(refusal)


def _read_bundle(name: str, text: str) -> PatientRecord:
    try:
        found = run_isolated_blocking(VALIDATOR, timeout_s=TIMEOUT_S, text=text)
    except ToolFailed as failure:
        raise ToolFailed(f"reading {name} {failure}; hand over a smaller bundle") from failure
    except ToolRefused as refusal:
        cut = " (it was cut for its length: hand over a smaller one)" * text.endswith("ers]")
        raise ToolRefused(
            f"{name} cannot be read as a FHIR R4 bundle: {refusal}{cut}; hand over JSON whose "
            "resourceType is Bundle"
        ) from refusal
    bundle = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    if not bundle.get("entry"):
        raise ToolRefused(f"{name} is a bundle without entries: there is nothing to read")
    return _build_record(name, bundle, {index: f"not valid FHIR R4: {why}" for index, why in found})


def _build_record(source: str, bundle: JsonObject, invalid: Mapping[int, str]) -> PatientRecord:
    """Separate usable from unusable resources."""
    held = [entry if isinstance(entry, dict) else {} for entry in bundle["entry"]]
    found = [get_part(entry, "resource") for entry in held]
    names = [name_entry(entry, index) for index, entry in enumerate(held)]
    kinds = [sanitize_line(str(resource.get("resourceType", "")), 60) for resource in found]
    references = ReferenceIndex.from_entries(held, names)
    patient = _require_one_patient(source, references.list_patients(found, names))
    conflicting = _find_conflicting_names(names, found)
    entries: dict[str, RecordEntry] = {}
    excluded: dict[str, ExcludedResource] = {}
    for index, (name, kind, resource) in enumerate(zip(names, kinds, found, strict=True)):
        if index not in invalid and kind not in READ_KINDS:
            continue
        value, subject = _clean_or_none(resource), references.resolve_subject(resource)
        reason = invalid.get(index) or conflicting.get(name)
        reason = reason or _explain_exclusion(resource, is_of_patient=subject == patient)
        if reason or value is None:
            short = sanitize_line(reason or "it cannot be read", 200).rstrip(".")
            excluded[name] = ExcludedResource(name, kind, short)
        else:
            entries[name] = RecordEntry(name, kind, value)
    if not entries:
        told = join_names(f"{each.name} ({each.reason})" for each in excluded.values())
        raise ToolRefused(
            f"nothing of {source} can be used as FHIR R4: {told or 'it holds no resource to read'}"
        )
    return PatientRecord(
        source=source,
        patient=patient,
        entries=tuple(entries.values()),
        excluded=tuple(excluded.values()),
        counts=Counter(filter(None, kinds)),
        references=references,
        is_test_data=any(map(_is_test_data, (bundle, *found))),
    )


def _require_one_patient(source: str, patients: list[str]) -> str:
    if len(patients) == 1:
        return patients[0]
    if not patients:
        raise ToolRefused(
            f"no resource of {source} names a patient, so it is not a patient's record"
        )
    raise ToolRefused(
        f"{source} refers to {format_count(len(patients), 'patient')} ({join_names(patients)}), "
        "and their records are not mixed: add a bundle for one of them"
    )


def _explain_exclusion(resource: JsonObject, *, is_of_patient: bool) -> str:
    """Return why a valid resource is not used; empty if it is."""
    verified = _list_codes(get_part(resource, "verificationStatus").get("coding"))
    if "entered-in-error" in (resource.get("status"), *verified):
        return "entered in error"
    is_known = is_of_patient or resource["resourceType"] in KINDS_WITHOUT_SUBJECT
    return "" if is_known else "it does not say of which patient"


def _clean_or_none(resource: JsonObject) -> JsonObject | None:
    try:
        cleaned: JsonObject = clean_json(resource)
    except (ValueError, RecursionError):
        return None
    return cleaned


def _find_conflicting_names(names: Sequence[str], found: Sequence[JsonObject]) -> dict[str, str]:
    """Return the names that several entries share whose contents differ."""
    by_name: dict[str, list[JsonObject]] = {}
    for name, resource in zip(names, found, strict=True):
        by_name.setdefault(name, []).append(resource)
    return {
        name: f"it occurs {len(same)} times with different contents"
        for name, same in by_name.items()
        if any(each != same[0] for each in same)
    }


def _is_test_data(holder: JsonObject) -> bool:
    meta = get_part(holder, "meta")
    return TEST_DATA_LABEL in _list_codes(meta.get("tag")) + _list_codes(meta.get("security"))


def _list_codes(codings: object) -> list[str]:
    found = codings if isinstance(codings, list) else []
    return [str(coding.get("code")) for coding in found if isinstance(coding, dict)]
