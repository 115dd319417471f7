"""The reference entries of all fields, one file of YAML each, and the search in them."""

import math
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from extensions.tools.documents.index import STOP_WORDS, PassageIndex
from extensions.tools.documents.passages import Passage
from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS

MIN_SHARE = 0.4
"""Share of the weight of the query's words that a passage must have."""
MIN_SHARE_OF_BEST = 0.75
"""Share of the best passage's weight that another must have to be listed beside it."""
MAX_HITS = 100
"""Passages examined for each word."""
MAX_WORDS = 40
"""Words of a query that are looked up."""

_WORD = Pattern(r"[^\W_]{2,}")
_IGNORED_WORDS = FUNCTION_WORDS | QUESTION_WORDS | STOP_WORDS


def extract_keywords(query: str) -> tuple[str, ...]:
    """Return the words of a query that are not grammar."""
    words = (word.lower() for word in _WORD.findall(query))
    return tuple(dict.fromkeys(word for word in words if word not in _IGNORED_WORDS))[:MAX_WORDS]


def find_covering_passages(index: PassageIndex, query: str) -> list[Passage]:
    """Return the passages that cover a query, the best first; none if none covers it.

    A word weighs the more the fewer passages have it; most if none has it. One shared word is
    enough only if no other passage has it, and this one has it in the same form.
    """
    words = extract_keywords(query)
    holders = {word: {hit.passage for hit in index.search(word, MAX_HITS)} for word in words}
    weights = {word: math.log(1 + MAX_HITS / max(1, len(holders[word]))) for word in words}
    shared = {
        passage: [word for word in words if passage in holders[word]]
        for passage in set().union(*holders.values())
    }
    total = sum(weights.values())
    shares = {
        passage: sum(weights[word] for word in found) / total
        for passage, found in shared.items()
        if len(found) > 1 or (len(holders[found[0]]) == 1 and _has_word(passage, found[0]))
    }
    least = max(MIN_SHARE, MIN_SHARE_OF_BEST * max(shares.values(), default=0.0))
    kept = [passage for passage in shares if shares[passage] >= least]
    return sorted(kept, key=lambda each: (-shares[each], each.source, each.text))


def _has_word(passage: Passage, word: str) -> bool:
    return word in _WORD.findall(f"{passage.place} {passage.text}".lower())


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
