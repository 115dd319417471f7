"""Read a FHIR bundle as the record of one patient."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from nodes.errors import ToolFailed, ToolRefused
from nodes.limits.nesting import parse_json
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.isolation import run_isolated_blocking
from nodes.tools.framework.tool_report import join_names

from .record import (
    READ_KINDS,
    ExcludedResource,
    PatientRecord,
    RecordEntry,
    ReferenceIndex,
    name_entry,
)
from .values import JsonObject, clean_json, find_code, get_part

VALIDATOR = f"{__package__}.validator:validate_bundle"
TIMEOUT_S = 60.0
KINDS_WITHOUT_SUBJECT = ("Patient", "Medication")

_read_lock = threading.Lock()


def read_record(source: str, text: str) -> PatientRecord:
    """Read a bundle; one that several tools need at the same time is read once.

    Raises:
        ToolFailed: reading took too long, or failed.
        ToolRefused: it is no bundle, an empty one, or not of exactly one patient.
    """
    with _read_lock:
        return _read_bundle(source, text)


@lru_cache(maxsize=4)
def _read_bundle(source: str, text: str) -> PatientRecord:
    try:
        found = run_isolated_blocking(VALIDATOR, timeout_s=TIMEOUT_S, text=text)
    except ToolFailed as failure:
        raise ToolFailed(f"reading {source} {failure}; hand over a smaller bundle") from failure
    except ToolRefused as refusal:
        cut = " (it was cut for its length: hand over a smaller one)" * text.endswith("ers]")
        raise ToolRefused(
            f"{source} cannot be read as a FHIR R4 bundle: {refusal}{cut}; hand over JSON whose "
            "resourceType is Bundle"
        ) from refusal
    entries = parse_json(text, parse_float=Decimal, parse_int=Decimal).get("entry")
    if not entries:
        raise ToolRefused(f"{source} is a bundle without entries: there is nothing to read")
    invalid = {index: f"not valid FHIR R4: {why}" for index, why in found}
    return _build_record(
        source, [entry if isinstance(entry, dict) else {} for entry in entries], invalid
    )


def _build_record(
    source: str, held: Sequence[JsonObject], invalid: Mapping[int, str]
) -> PatientRecord:
    """Separate usable from unusable resources."""
    found = [get_part(entry, "resource") for entry in held]
    names = [name_entry(entry, index) for index, entry in enumerate(held)]
    kinds = [sanitize_line(str(resource.get("resourceType", "")), 60) for resource in found]
    addresses = [str(entry.get("fullUrl") or "") for entry in held]
    references = ReferenceIndex(
        {url: name for url, name in zip(addresses, names, strict=True) if url}
    )
    patient = _require_one_patient(source, references.list_patients(found, names))
    conflicting = _find_conflicting_names(names, found)
    entries: dict[str, RecordEntry] = {}
    excluded: dict[str, ExcludedResource] = {}
    for index, (name, kind, resource) in enumerate(zip(names, kinds, found, strict=True)):
        if index not in invalid and kind not in READ_KINDS:
            continue
        reason, value = invalid.get(index) or conflicting.get(name, ""), dict[str, Any]()
        try:
            value = clean_json(resource)
        except (ValueError, RecursionError):
            reason = reason or "it cannot be read"
        is_of_patient = references.resolve_subject(resource) == patient
        if reason := reason or _explain_exclusion(value, is_of_patient=is_of_patient):
            excluded[name] = ExcludedResource(name, kind, sanitize_line(reason, 200).rstrip("."))
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
    verified = find_code(get_part(resource, "verificationStatus"))
    if "entered-in-error" in (resource.get("status"), verified):
        return "entered in error"
    is_known = is_of_patient or resource["resourceType"] in KINDS_WITHOUT_SUBJECT
    return "" if is_known else "it does not say of which patient"


def _find_conflicting_names(names: Sequence[str], found: Sequence[JsonObject]) -> dict[str, str]:
    """Return the names that several entries share whose contents differ."""
    first = dict(zip(reversed(names), reversed(found), strict=True))
    counts = Counter(names)
    return {
        name: f"it occurs {counts[name]} times with different contents"
        for name, resource in zip(names, found, strict=True)
        if resource != first[name]
    }
