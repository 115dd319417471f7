"""The reference entries of all fields, one file of YAML each, and the search in them."""

from functools import cache
from pathlib import Path
from typing import Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from extensions.tools.documents.index import PassageIndex
from extensions.tools.documents.passages import Passage

from .coverage import find_covering_passages

Field = Literal["legal", "medical", "technical", "financial"]
Country = Literal["EU", "Germany", "UK", "United States"]

FIELDS: tuple[Field, ...] = get_args(Field)
PLACES: dict[Country, tuple[str, ...]] = {
    "EU": ("European Union",),
    "Germany": ("Germany", "European Union"),
    "UK": ("United Kingdom", "Great Britain", "England and Wales", "England"),
    "United States": ("United States",),
}
"""Where entries hold that hold in a country."""

_FOLDER = Path(__file__).parent


class ReferenceEntry(BaseModel):
    """A fact in our words, and the public text that supports it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    where: str = ""
    """Where it applies; empty if the place does not matter."""
    terms: str
    """Other words for what users ask."""
    text: str
    source: str
    as_of: str
    """Date or version of the source."""

    @property
    def citation(self) -> str:
        """Return the source with its date or version."""
        return f"{self.source} ({self.as_of})"


def find_entries(query: str, country: Country | None = None) -> list[tuple[Field, ReferenceEntry]]:
    """Return the entries of every field whose title and terms cover a query, the best first.

    Args:
        country: an entry that holds only elsewhere is left out.
    """
    held = {
        entry.id: (field, entry)
        for field in FIELDS
        for entry in load_entries(field)
        if not (country and entry.where) or entry.where in PLACES[country]
    }
    found = find_covering_passages(_build_index(), query)
    return [held[each.source] for each in found if each.source in held]


@cache
def load_entries(field: Field) -> tuple[ReferenceEntry, ...]:
    """Load a field's entries, once per process."""
    return TypeAdapter(tuple[ReferenceEntry, ...]).validate_python(_read_yaml(field))


@cache
def _build_index() -> PassageIndex:
    """Index the titles and terms of all fields: a word that many entries have tells little."""
    place_words = _read_yaml("places")
    return PassageIndex(
        Passage(
            entry.id,
            entry.title,
            f"{entry.terms} {entry.where} {place_words.get(entry.where, '')}",
        )
        for field in FIELDS
        for entry in load_entries(field)
    )


@cache
def _read_yaml(name: str) -> dict[str, str]:
    held: dict[str, str] = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return held
