"""A collection of reference entries on one domain, as it ships beside this file."""

from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.passages import Passage
from nodes.tools.references.words import Held, Words

Domain = Literal["legal", "medical", "technical", "financial"]

DOMAINS: tuple[Domain, ...] = get_args(Domain)

_FOLDER = Path(__file__).parent


class Entry(BaseModel):
    """A fact in our words, and the public text that it is taken from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    where: str = ""
    """Where it holds; empty where that is no matter of place."""
    terms: str
    """Other words that people ask with."""
    text: str
    source: str
    as_of: str
    """Date or version of the source."""

    @property
    def citation(self) -> str:
        """Name the source with its date or version."""
        return f"{self.source} ({self.as_of})"


class Collection:
    """The entries of a domain, and which of them answer a question."""

    def __init__(self, domain: Domain, entries: tuple[Entry, ...]) -> None:
        self.domain, self.entries = domain, entries
        heads = [f"{each.title} {each.terms} {_names_of(each.where)}" for each in entries]
        bodies = [each.text for each in entries]
        self._heads, self._bodies = (
            PassageIndex(
                Passage(each.id, "", text) for each, text in zip(entries, texts, strict=True)
            )
            for texts in (heads, bodies)
        )

    def answering(self, words: Words, named: Set[str]) -> list[Entry]:
        """Give the entries that answer a question, the best first; none where none does.

        Args:
            named: the places that the question names: only what holds there, or everywhere, counts.
        """
        entries = {
            entry.id: entry
            for entry in self.entries
            if not (named and entry.where) or entry.where in named
        }
        telling = [word for word in words.telling if word not in _all_places()] or words.telling
        holding = {word: self._held(word) for word in telling}
        return [entries[name] for name in words.ranked(holding, among=entries.keys())]

    def _held(self, word: str) -> Held[str]:
        most = len(self.entries)
        heads, bodies = (
            {hit.passage.source for hit in index.search(word, most)}
            for index in (self._heads, self._bodies)
        )
        return heads, bodies


def places(words: Words) -> set[str]:
    """Give the places of the collections that a question names."""
    return {place for place, names in _places().items() if names & set(words.telling)}


@cache
def collection_of(domain: Domain) -> Collection:
    """Read a domain's entries, once in a process."""
    held = yaml.safe_load((_FOLDER / f"{domain}.yaml").read_text(encoding="utf-8"))
    return Collection(domain, TypeAdapter(tuple[Entry, ...]).validate_python(held))


@cache
def _places() -> dict[str, frozenset[str]]:
    held = yaml.safe_load((_FOLDER / "places.yaml").read_text(encoding="utf-8"))
    return {place: frozenset(names.split()) for place, names in held.items()}


@cache
def _all_places() -> frozenset[str]:
    return frozenset().union(*_places().values())


def _names_of(where: str) -> str:
    return " ".join(sorted(_places().get(where, ())))
