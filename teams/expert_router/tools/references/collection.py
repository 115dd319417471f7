"""A collection of reference entries on one domain, shipped beside this file."""

from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.passages import Passage

from .question_words import QuestionWords, WordHolders

Domain = Literal["legal", "medical", "technical", "financial"]

DOMAINS: tuple[Domain, ...] = get_args(Domain)

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


class ReferenceCollection:
    """The entries of a domain, searched by question."""

    def __init__(self, domain: Domain, entries: tuple[ReferenceEntry, ...]) -> None:
        self.domain, self.entries = domain, entries
        heads = [f"{each.title} {each.terms} {_join_place_words(each.where)}" for each in entries]
        bodies = [each.text for each in entries]
        self._head_index, self._body_index = (
            PassageIndex(
                Passage(each.id, "", text) for each, text in zip(entries, texts, strict=True)
            )
            for texts in (heads, bodies)
        )

    def find_answers(self, words: QuestionWords, named: Set[str]) -> list[ReferenceEntry]:
        """Return the entries that answer a question, the best first; none if no entry does.

        Args:
            named: places in the question: only entries for them, or for everywhere, count.
        """
        entries = {
            entry.id: entry
            for entry in self.entries
            if not (named and entry.where) or entry.where in named
        }
        telling = [
            word for word in words.keywords if word not in _list_place_words()
        ] or words.keywords
        holding = {word: self._find_holders(word) for word in telling}
        return [entries[name] for name in words.rank_texts(holding, among=entries.keys())]

    def _find_holders(self, word: str) -> WordHolders[str]:
        most = len(self.entries)
        heads, bodies = (
            {hit.passage.source for hit in index.search(word, most)}
            for index in (self._head_index, self._body_index)
        )
        return heads, bodies


def find_places(words: QuestionWords) -> set[str]:
    """Return the places in the collections that a question names."""
    return {place for place, names in _load_places().items() if names & set(words.keywords)}


@cache
def load_collection(domain: Domain) -> ReferenceCollection:
    """Load a domain's entries, once per process."""
    held = yaml.safe_load((_FOLDER / f"{domain}.yaml").read_text(encoding="utf-8"))
    return ReferenceCollection(
        domain, TypeAdapter(tuple[ReferenceEntry, ...]).validate_python(held)
    )


@cache
def _load_places() -> dict[str, frozenset[str]]:
    held = yaml.safe_load((_FOLDER / "places.yaml").read_text(encoding="utf-8"))
    return {place: frozenset(names.split()) for place, names in held.items()}


@cache
def _list_place_words() -> frozenset[str]:
    return frozenset().union(*_load_places().values())


def _join_place_words(where: str) -> str:
    return " ".join(sorted(_load_places().get(where, ())))
