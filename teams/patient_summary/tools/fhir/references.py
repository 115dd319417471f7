"""Name the resources of a bundle, and resolve the references between them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

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
