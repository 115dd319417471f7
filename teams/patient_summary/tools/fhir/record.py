"""The record of one patient: which resources of a bundle are used, and which are not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nodes.tools.framework.tool_report import MAX_JOINED_NAMES

from .datatypes import FhirModel
from .references import ReferenceIndex
from .resources import Patient

ModelT = TypeVar("ModelT", bound=FhirModel)


@dataclass(frozen=True)
class RecordEntry(Generic[ModelT]):
    """A resource, and the name it is cited by within the bundle."""

    name: str
    kind: str
    value: ModelT


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
    entries: tuple[RecordEntry[Any], ...]
    excluded: tuple[ExcludedResource, ...]
    counts: Mapping[str, int]
    """Resources by kind, in the bundle's order."""
    references: ReferenceIndex
    is_test_data: bool

    def cite(self, name: str) -> str:
        """Return the name by which a resource is cited as a source."""
        return f"{self.source}#{name}"

    def list_entries(self, model: type[ModelT]) -> list[RecordEntry[ModelT]]:
        """Return the resources that are read as a model, in the bundle's order."""
        return [entry for entry in self.entries if type(entry.value) is model]

    @property
    def patient_resource(self) -> Patient | None:
        """Return the patient's own resource; None if the bundle has none."""
        return next((entry.value for entry in self.list_entries(Patient)), None)

    @property
    def heading(self) -> str:
        """Return one line that introduces the patient."""
        person = self.patient_resource
        told = [self.patient]
        if person is not None:
            told = [person.full_name or self.patient, person.gender]
            told += [f"born {person.birth_date[:10]}" if person.birth_date else ""]
            told += [f"died {person.deceased_date[:10]}" if person.deceased_date else ""]
            told += ["deceased" if person.deceased else ""]
        label = ", marked as made-up test data" if self.is_test_data else ""
        return f"**Patient:** {', '.join(filter(None, told))}{label} ({self.cite(self.patient)})"

    def list_gaps(self, kinds: Iterable[str]) -> Iterator[str]:
        """Return what was left out of some kinds, in the same words for every tool."""
        wanted = set(kinds)
        told = [each for each in self.excluded if each.kind in wanted]
        for each in told[:MAX_JOINED_NAMES]:
            yield f"Left out: {self.cite(each.name)}, {each.reason}."
        if len(told) > MAX_JOINED_NAMES:
            yield f"Left out of {self.source}: {len(told) - MAX_JOINED_NAMES} more resources."
        if self.patient_resource is None and "Patient" in wanted:
            yield f"{self.source} holds no usable Patient resource: name, sex and birth date."
