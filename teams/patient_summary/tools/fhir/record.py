"""The record of one patient: which resources of a bundle are used, and which are not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nodes.tools.framework.tool_report import MAX_JOINED_NAMES, ToolReport

from .references import ReferenceIndex
from .values import JsonObject

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
