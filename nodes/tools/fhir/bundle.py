"""A FHIR bundle as the record of one patient."""

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
from nodes.tools.fhir import resources
from nodes.tools.fhir.datatypes import Read
from nodes.tools.fhir.record import Entry, LeftOut, Record
from nodes.tools.fhir.references import Directory, entry_name
from nodes.tools.isolation import ask_once
from nodes.tools.materials import material_name
from nodes.tools.plain_text import plain_line
from nodes.tools.replies import counted, listed

VALIDATOR = "nodes.tools.fhir.validator"
TIMEOUT_S = 60.0
KINDS: Mapping[str, type[Read]] = {
    "Patient": resources.Patient,
    "Condition": resources.Condition,
    "AllergyIntolerance": resources.Allergy,
    "Encounter": resources.Encounter,
    "Immunization": resources.Immunization,
    "Observation": resources.Observation,
    "MedicationRequest": resources.Medication,
    "MedicationStatement": resources.Medication,
    "Medication": resources.Substance,
}
"""What is read; resources of other kinds are counted."""
OF_NO_PATIENT = frozenset(("Patient", "Medication"))
SAME = "repeated"
TEST_DATA = "HTEST"
"""The label of health data made up for tests."""

Json = dict[str, Any]
"""An object of a stranger's JSON."""


async def read_record(material: str, materials: Mapping[str, str] | None) -> Record:
    """Read a material as a bundle; what several tools read at a time is read once.

    Raises:
        ToolFailed: the reading took too long, or broke.
        ToolRefused: no such material, no bundle, nothing in it, or not of exactly one patient.
    """
    name = material_name(material, materials)
    return await asyncio.to_thread(_kept, name, (materials or {})[name])


_reading = threading.Lock()


def _kept(name: str, text: str) -> Record:
    with _reading:
        found = _tried(name, text)
    if isinstance(found, str):
        raise ToolRefused(found)
    return found


@lru_cache(maxsize=4)
def _tried(name: str, text: str) -> Record | str:
    """Give the record, or why there is none: that is not found out twice either.

    A failure is not kept: the next reading may succeed.
    """
    try:
        return _read(name, text)
    except ToolRefused as refusal:
        return str(refusal)


def _read(name: str, text: str) -> Record:
    try:
        found = ask_once(VALIDATOR, {"text": text}, timeout_s=TIMEOUT_S)
    except ToolFailed as failure:
        raise ToolFailed(f"reading {name} {failure}; hand over a smaller bundle") from failure
    except ToolRefused as refusal:
        cut = " (it was cut for its length: hand over a smaller one)" * text.endswith("ers]")
        raise ToolRefused(
            f"{name} cannot be read as a FHIR R4 bundle: {refusal}{cut}; hand over JSON whose "
            "resourceType is Bundle"
        ) from refusal
    bundle = json.loads(text, parse_float=Decimal)
    invalid = {index: f"not valid FHIR R4: {reason}" for index, reason in found["invalid"]}
    if not bundle.get("entry"):
        raise ToolRefused(f"{name} is a bundle without entries: there is nothing to read")
    return _sorted_out(name, bundle, invalid)


def _sorted_out(source: str, bundle: Json, invalid: Mapping[int, str]) -> Record:
    """Part what can be used from what cannot."""
    held = [entry if isinstance(entry, dict) else {} for entry in bundle["entry"]]
    found = [_object(entry, "resource") for entry in held]
    names = [entry_name(entry, index) for index, entry in enumerate(held)]
    kinds = [plain_line(str(resource.get("resourceType", "")), 60) for resource in found]
    directory = Directory.of(held, names)
    patient = _only_patient(source, directory.patients(found, names))
    repeated = _repeated(names, found)
    entries: list[Entry[Any]] = []
    left_out: list[LeftOut] = []
    for index, (name, kind, resource) in enumerate(zip(names, kinds, found, strict=True)):
        if index not in invalid and (kind not in KINDS or repeated.get(index) == SAME):
            continue
        reason = invalid.get(index) or repeated.get(index)
        reason = reason or _objection(resource, directory.subject(resource), patient)
        value = None if reason else _value(kind, resource)
        if value is not None:
            entries.append(Entry(name, kind, value))
        else:
            left_out.append(
                LeftOut(name, kind, plain_line(reason or "it cannot be read", 200).rstrip("."))
            )
    if not entries:
        raise ToolRefused(_nothing(source, left_out))
    return Record(
        source=source,
        patient=patient,
        entries=tuple(entries),
        left_out=tuple(left_out),
        counts=Counter(filter(None, kinds)),
        directory=directory,
        is_test=any(_is_test(_object(each, "meta")) for each in (bundle, *found)),
    )


def _only_patient(source: str, patients: list[str]) -> str:
    if len(patients) == 1:
        return patients[0]
    if not patients:
        raise ToolRefused(f"no resource of {source} names a patient, so it is no one's record")
    raise ToolRefused(
        f"{source} speaks of {counted(len(patients), 'patient')} ({listed(patients)}), and their "
        "records are not mixed: hand over a bundle for one of them"
    )


def _objection(resource: Json, subject: str, patient: str) -> str:
    """Say why a valid resource is not used; empty when it is."""
    verified = _codes(_object(resource, "verificationStatus").get("coding"))
    if "entered-in-error" in (resource.get("status"), *verified):
        return "entered in error"
    if resource.get("resourceType") in OF_NO_PATIENT:
        return ""
    return "" if subject == patient else "it does not say of which patient"


def _repeated(names: Sequence[str], found: Sequence[Json]) -> dict[int, str]:
    """Find what stands twice under one name: once is enough, unless the two differ."""
    places: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        places.setdefault(name, []).append(index)
    told: dict[int, str] = {}
    for first, *others in filter(lambda at: len(at) > 1, places.values()):
        if all(found[at] == found[first] for at in others):
            told |= dict.fromkeys(others, SAME)
        else:
            reason = f"it stands {len(others) + 1} times with different contents"
            told |= dict.fromkeys((first, *others), reason)
    return told


def _value(kind: str, resource: Json) -> Read | None:
    try:
        return KINDS[kind].model_validate(resource)
    except ValidationError:
        return None


def _nothing(source: str, left_out: list[LeftOut]) -> str:
    told = listed(f"{each.name} ({each.reason})" for each in left_out)
    return f"nothing of {source} can be used as FHIR R4: {told or 'it holds no resource to read'}"


def _is_test(meta: Json) -> bool:
    return TEST_DATA in _codes(meta.get("tag")) + _codes(meta.get("security"))


def _codes(codings: object) -> list[str]:
    found = codings if isinstance(codings, list) else []
    return [str(coding.get("code")) for coding in found if isinstance(coding, dict)]


def _object(holder: Json, name: str) -> Json:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}
