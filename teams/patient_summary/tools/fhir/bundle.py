"""Read a FHIR bundle as the record of one patient."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from nodes.errors import ToolFailed, ToolRefused
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.isolation import run_isolated_blocking
from nodes.tools.framework.materials import resolve_material_name
from nodes.tools.framework.tool_report import join_names

from . import resources
from .datatypes import FhirModel
from .record import ExcludedResource, PatientRecord, RecordEntry
from .references import ReferenceIndex, name_entry

VALIDATOR = f"{__package__}.validator:validate_bundle"
TIMEOUT_S = 60.0
RESOURCE_MODELS: Mapping[str, type[FhirModel]] = {
    "Patient": resources.Patient,
    "Condition": resources.Condition,
    "AllergyIntolerance": resources.Allergy,
    "Encounter": resources.Encounter,
    "Immunization": resources.Immunization,
    "Observation": resources.Observation,
    "MedicationRequest": resources.MedicationUse,
    "MedicationStatement": resources.MedicationUse,
    "Medication": resources.MedicationSubstance,
}
"""What is read; resources of other kinds are counted."""
TYPES_WITHOUT_SUBJECT = frozenset(("Patient", "Medication"))
REPEATED = "repeated"
TEST_DATA_LABEL = "HTEST"
"""The label of synthetic health data, made for tests."""

JsonObject = dict[str, Any]
"""An object of untrusted JSON."""


async def read_record(material: str, materials: Mapping[str, str] | None) -> PatientRecord:
    """Read a material as a bundle; a bundle that several tools need at the same time is read once.

    Raises:
        ToolFailed: reading took too long, or failed.
        ToolRefused: no such material, no bundle, an empty one, or not of exactly one patient.
    """
    name = resolve_material_name(material, materials)
    return await asyncio.to_thread(_read_record_once, name, (materials or {})[name])


_read_lock = threading.Lock()


def _read_record_once(name: str, text: str) -> PatientRecord:
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
    bundle = json.loads(text, parse_float=Decimal)
    invalid = {index: f"not valid FHIR R4: {reason}" for index, reason in found}
    if not bundle.get("entry"):
        raise ToolRefused(f"{name} is a bundle without entries: there is nothing to read")
    return _build_record(name, bundle, invalid)


def _build_record(source: str, bundle: JsonObject, invalid: Mapping[int, str]) -> PatientRecord:
    """Separate usable from unusable resources."""
    held = [entry if isinstance(entry, dict) else {} for entry in bundle["entry"]]
    found = [_get_object(entry, "resource") for entry in held]
    names = [name_entry(entry, index) for index, entry in enumerate(held)]
    kinds = [sanitize_line(str(resource.get("resourceType", "")), 60) for resource in found]
    directory = ReferenceIndex.from_entries(held, names)
    patient = _require_one_patient(source, directory.list_patients(found, names))
    repeated = _find_repeated_entries(names, found)
    entries: list[RecordEntry[Any]] = []
    left_out: list[ExcludedResource] = []
    for index, (name, kind, resource) in enumerate(zip(names, kinds, found, strict=True)):
        if index not in invalid and (
            kind not in RESOURCE_MODELS or repeated.get(index) == REPEATED
        ):
            continue
        reason = invalid.get(index) or repeated.get(index)
        reason = reason or _explain_exclusion(
            resource, directory.resolve_subject(resource), patient
        )
        value = None if reason else _parse_resource(kind, resource)
        if value is not None:
            entries.append(RecordEntry(name, kind, value))
        else:
            left_out.append(
                ExcludedResource(
                    name, kind, sanitize_line(reason or "it cannot be read", 200).rstrip(".")
                )
            )
    if not entries:
        raise ToolRefused(_describe_unusable_bundle(source, left_out))
    return PatientRecord(
        source=source,
        patient=patient,
        entries=tuple(entries),
        excluded=tuple(left_out),
        counts=Counter(filter(None, kinds)),
        references=directory,
        is_test_data=any(_is_test_data(_get_object(each, "meta")) for each in (bundle, *found)),
    )


def _require_one_patient(source: str, patients: list[str]) -> str:
    if len(patients) == 1:
        return patients[0]
    if not patients:
        raise ToolRefused(
            f"no resource of {source} names a patient, so it is not a patient's record"
        )
    raise ToolRefused(
        f"{source} refers to {format_count(len(patients), 'patient')} "
        f"({join_names(patients)}), and their "
        "records are not mixed: add a bundle for one of them"
    )


def _explain_exclusion(resource: JsonObject, subject: str, patient: str) -> str:
    """Return why a valid resource is not used; empty if it is."""
    verified = _list_codes(_get_object(resource, "verificationStatus").get("coding"))
    if "entered-in-error" in (resource.get("status"), *verified):
        return "entered in error"
    if resource.get("resourceType") in TYPES_WITHOUT_SUBJECT:
        return ""
    return "" if subject == patient else "it does not say of which patient"


def _find_repeated_entries(names: Sequence[str], found: Sequence[JsonObject]) -> dict[int, str]:
    """Find entries that share a name: duplicates are dropped, unless they differ."""
    places: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        places.setdefault(name, []).append(index)
    told: dict[int, str] = {}
    for first, *others in filter(lambda at: len(at) > 1, places.values()):
        if all(found[at] == found[first] for at in others):
            told |= dict.fromkeys(others, REPEATED)
        else:
            reason = f"it occurs {len(others) + 1} times with different contents"
            told |= dict.fromkeys((first, *others), reason)
    return told


def _parse_resource(kind: str, resource: JsonObject) -> FhirModel | None:
    try:
        return RESOURCE_MODELS[kind].model_validate(resource)
    except ValidationError:
        return None


def _describe_unusable_bundle(source: str, left_out: list[ExcludedResource]) -> str:
    told = join_names(f"{each.name} ({each.reason})" for each in left_out)
    return f"nothing of {source} can be used as FHIR R4: {told or 'it holds no resource to read'}"


def _is_test_data(meta: JsonObject) -> bool:
    return TEST_DATA_LABEL in _list_codes(meta.get("tag")) + _list_codes(meta.get("security"))


def _list_codes(codings: object) -> list[str]:
    found = codings if isinstance(codings, list) else []
    return [str(coding.get("code")) for coding in found if isinstance(coding, dict)]


def _get_object(holder: JsonObject, name: str) -> JsonObject:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}
