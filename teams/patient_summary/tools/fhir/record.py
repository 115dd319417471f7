"""The record of one patient: which resources of a bundle are used, and how they refer."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import MAX_JOINED_NAMES, ToolReport

from .values import JsonObject

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
