"""Read a FHIR bundle as the record of one patient: which resources are used, and how they refer."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from nodes.errors import ToolFailed, ToolRefused
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.isolation import run_isolated_blocking
from nodes.tools.framework.tool_report import MAX_JOINED_NAMES, ToolReport, join_names

from .values import JsonObject, clean_json, find_code, get_part

MAX_NAME_CHARS = 100
_RELATIVE_REFERENCE = Pattern(r"(?:^|/)([A-Z][A-Za-z]{2,40}/[A-Za-z0-9.\-]{1,64})$")
_VERSION_SUFFIX = Pattern(r"/_history/[^/]+$")


@dataclass(frozen=True)
class ReferenceIndex:
    """The addresses of a bundle, each with the name of its resource."""

    names: Mapping[str, str]
    """The names of resources, by the full addresses of their entries."""

    def resolve(self, reference: object) -> str:
        """Return the name that a reference resolves to: by full address, else by type and id."""
        target = reference.get("reference") if isinstance(reference, dict) else reference
        if not isinstance(target, str):
            return ""
        target = _VERSION_SUFFIX.sub("", target)
        tail = _RELATIVE_REFERENCE.search(target)
        if target in self.names or tail is None:
            return self.names.get(target, "")
        # The same id at another address is another resource.
        if "://" in target and any(url.endswith(f"/{tail[1]}") for url in self.names):
            return sanitize_line(target, MAX_NAME_CHARS)
        return tail[1]

    def resolve_subject(self, resource: Mapping[str, Any]) -> str:
        """Return the name of the patient a resource is about."""
        return self.resolve(resource.get("subject") or resource.get("patient"))

    def list_patients(self, found: Iterable[Mapping[str, Any]], names: Iterable[str]) -> list[str]:
        """Return the name of every patient that is present or referred to, each once."""
        named = list[str]()
        for name, resource in zip(names, found, strict=True):
            subject = self.resolve_subject(resource)
            named += [name] * (resource.get("resourceType") == "Patient")
            named += [subject] * ("/Patient/" in f"/{subject}")
        return list(dict.fromkeys(named))


def name_entry(entry: Mapping[str, Any], index: int) -> str:
    """Return the name of an entry: type and id, else its full address, else its place."""
    resource = entry.get("resource")
    held = resource if isinstance(resource, dict) else {}
    kind, identifier = held.get("resourceType"), held.get("id")
    if isinstance(kind, str) and isinstance(identifier, str) and identifier:
        return sanitize_line(f"{kind}/{identifier}", MAX_NAME_CHARS)
    address = entry.get("fullUrl")
    if isinstance(address, str) and address:
        return sanitize_line(address, MAX_NAME_CHARS)
    return f"entry[{index}]"


READ_KINDS = (
    *("Patient", "Medication", "Condition", "AllergyIntolerance", "Encounter", "Immunization"),
    *("Observation", "MedicationRequest", "MedicationStatement"),
)
"""Kinds of resources that are read; others are counted."""


@dataclass(frozen=True)
class RecordEntry:
    """A valid resource, and the name it is cited by within the bundle."""

    name: str
    kind: str
    resource: JsonObject


@dataclass(frozen=True)
class ExcludedResource:
    """A resource that is not used, and why."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True)
class PatientRecord:
    """Everything a bundle states about its patient that could be read."""

    source: str
    """The material's name."""
    patient: str
    """Name of the patient that all resources refer to."""
    entries: tuple[RecordEntry, ...]
    excluded: tuple[ExcludedResource, ...]
    counts: Mapping[str, int]
    """Resources by kind, in the bundle's order."""
    references: ReferenceIndex

    def cite(self, name: str) -> str:
        """Return the name by which a resource is cited as a source."""
        return f"{self.source}#{name}"

    def list_entries(self, *kinds: str) -> list[RecordEntry]:
        """Return the resources of some kinds, in the bundle's order."""
        return [entry for entry in self.entries if entry.kind in kinds]

    @property
    def person(self) -> JsonObject:
        """Return the patient's own resource; empty if the bundle has none."""
        return next((entry.resource for entry in self.list_entries("Patient")), {})

    @property
    def full_name(self) -> str:
        """Return the official name, else the first."""
        for name in sorted(self.person.get("name", []), key=lambda n: n.get("use") != "official"):
            parts = [*name.get("given", []), name.get("family")]
            if words := name.get("text") or " ".join(filter(None, parts)):
                return str(words)
        return ""

    def begin_report(self, *lines: str) -> ToolReport:
        """Return a report that begins with a line on the patient."""
        told = [self.full_name or self.patient, self.person.get("gender", "")]
        for key, word in (("birthDate", "born"), ("deceasedDateTime", "died")):
            told += [f"{word} {self.person[key][:10]}"] if key in self.person else []
        told += ["deceased"] if self.person.get("deceasedBoolean") else []
        heading = f"**Patient:** {', '.join(filter(None, told))} ({self.cite(self.patient)})"
        return ToolReport(lines=[heading, "", *lines])

    def add_statement(self, report: ToolReport, name: str, text: str, quote: str = "") -> None:
        """Add what a resource states, as a line and as a claim."""
        report.lines.append(f"- {text} ({name})")
        report.add_claim(text, self.cite(name), quote)

    def list_gaps(self, kinds: Iterable[str]) -> Iterator[str]:
        """Return what was left out of some kinds, in the same words for every tool."""
        wanted = set(kinds)
        told = [each for each in self.excluded if each.kind in wanted]
        for each in told[:MAX_JOINED_NAMES]:
            yield f"Left out: {self.cite(each.name)}, {each.reason}."
        if len(told) > MAX_JOINED_NAMES:
            yield f"Left out of {self.source}: {len(told) - MAX_JOINED_NAMES} more resources."
        if not self.person and "Patient" in wanted:
            yield f"{self.source} holds no usable Patient resource: name, sex and birth date."


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
