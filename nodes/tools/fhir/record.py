"""The record of one patient: what of a bundle can be used, and what cannot."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nodes.tools.fhir.datatypes import Read
from nodes.tools.fhir.references import Directory
from nodes.tools.fhir.resources import Patient
from nodes.tools.replies import MAX_NAMED

Value = TypeVar("Value", bound=Read)


@dataclass(frozen=True)
class Entry(Generic[Value]):
    """A resource, and the name it is cited by within the bundle."""

    name: str
    kind: str
    value: Value


@dataclass(frozen=True)
class LeftOut:
    """A resource that is not used, and why."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True)
class Record:
    """Everything a bundle says of its patient that could be read."""

    source: str
    """The material's name."""
    patient: str
    """Name of the patient that all resources speak of."""
    entries: tuple[Entry[Any], ...]
    left_out: tuple[LeftOut, ...]
    counts: Mapping[str, int]
    """Resources by kind, as the bundle holds them."""
    directory: Directory
    is_test: bool

    def cite(self, name: str) -> str:
        """Name a resource as a source."""
        return f"{self.source}#{name}"

    def all(self, model: type[Value]) -> list[Entry[Value]]:
        """Give the resources that are read as a model, in the bundle's order."""
        return [entry for entry in self.entries if type(entry.value) is model]

    @property
    def person(self) -> Patient | None:
        """Give the patient's own resource; None where the bundle has none."""
        return next((entry.value for entry in self.all(Patient)), None)

    @property
    def heading(self) -> str:
        """Introduce the patient in a line."""
        person = self.person
        told = [self.patient]
        if person is not None:
            told = [person.words or self.patient, person.gender]
            told += [f"born {person.birth_date[:10]}" if person.birth_date else ""]
            told += [f"died {person.deceased_date[:10]}" if person.deceased_date else ""]
            told += ["deceased" if person.deceased else ""]
        label = ", marked as made-up test data" if self.is_test else ""
        return f"**Patient:** {', '.join(filter(None, told))}{label} ({self.cite(self.patient)})"

    def gaps(self, kinds: Iterable[str]) -> Iterator[str]:
        """Name what was left out of some kinds, each resource alike whoever names it."""
        wanted = set(kinds)
        told = [each for each in self.left_out if each.kind in wanted]
        for each in told[:MAX_NAMED]:
            yield f"Left out: {self.cite(each.name)}, {each.reason}."
        if len(told) > MAX_NAMED:
            yield f"Left out of {self.source}: {len(told) - MAX_NAMED} more resources."
        if self.person is None and "Patient" in wanted:
            yield f"{self.source} holds no usable Patient resource: name, sex and birth date."
