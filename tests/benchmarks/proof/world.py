"""What cases of one half are drawn from: documents, their sentences, names and tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from tests.benchmarks.proof.documents import Document, Table, list_sentences, read_table
from tests.benchmarks.proof.figures import DATE, MONTHS, list_figures
from tests.benchmarks.proof.rows import ROW_MAKERS
from tests.benchmarks.proof.statements import (
    MAKERS,
    Statement,
    list_address_lines,
    state_address,
    state_computed,
    state_dated,
    state_verbatim,
)

NAME = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]+(?: [A-Z][a-z]+)*(?=[ ,.;')])")
NO_NAMES = {*MONTHS, "Agreement", "Section", "Article", "Exhibit", "Party", "Parties", "Term"}
WORD = re.compile(r"\b[a-z]{6,}\b")
NOUN = re.compile(r"\bthe ([a-z]{5,}) (?:of|is|and|for|to|in|will|shall|are|that)\b")
MIN_SENTENCES = 6
MAX_DRAWS = 60


@dataclass(frozen=True)
class Text:
    """A document of prose, and what claims can be made of."""

    document: Document
    sentences: tuple[str, ...]

    @cached_property
    def figured(self) -> list[str]:
        """The sentences with a figure."""
        return [each for each in self.sentences if list_figures(each)]

    @cached_property
    def dated(self) -> list[str]:
        """The sentences with a whole date."""
        return [each for each in self.sentences if DATE.search(each)]

    @cached_property
    def names(self) -> dict[str, str]:
        """The names that sentences have, each with one of the sentences."""
        text = self.document.text
        found = {name: each for each in self.sentences for name in NAME.findall(each)}
        return {
            name: sentence
            for name, sentence in found.items()
            if len(name) > 3
            and name not in NO_NAMES
            and not re.search(rf"\b{name.lower()}s?\b", text)
        }

    @cached_property
    def addresses(self) -> list[str]:
        """The lines with one address."""
        return list_address_lines(self.document)

    @cached_property
    def nouns(self) -> list[str]:
        """Words that are nouns, as far as their neighbours tell, each once."""
        return sorted({*NOUN.findall(self.document.text), "report", "service"})

    @cached_property
    def words(self) -> list[str]:
        """The longer words of the text, each once."""
        return sorted(set(WORD.findall(self.document.text)))


class World:
    """One half of the documents."""

    def __init__(self, documents: Sequence[Document]) -> None:
        prose = [each for each in documents if not each.is_table]
        texts = [Text(each, tuple(list_sentences(each))) for each in prose]
        self.texts = [each for each in texts if len(each.sentences) >= MIN_SENTENCES]
        tables = [(each, read_table(each)) for each in documents if each.is_table]
        self.tables: list[Table] = [table for _, table in tables if table is not None]
        self.by_name = {each.name: each for each in documents}
        self.figured = [each for each in self.texts if len(each.figured) >= 2]
        self.computable = self._list_computable()

    def _list_computable(self) -> list[tuple[Text, str]]:
        random = Random(0)
        return [
            (text, sentence)
            for text in self.texts
            for sentence in text.figured
            if state_computed(sentence, text.document, random)
        ]

    def draw_prose(self, text: Text, random: Random) -> Statement:
        """Return a true statement of a document of prose, without a quotation."""
        if text.addresses and random.random() < 0.06:
            found = state_address(random.choice(text.addresses), text.document, random)
            if found:
                return found
        if text.dated and random.random() < 0.12:
            found = state_dated(random.choice(text.dated), text.document, random)
            if found:
                return found
        own = [sentence for each, sentence in self.computable if each is text]
        if own and random.random() < 0.15:
            found = state_computed(random.choice(own), text.document, random)
            if found:
                return found
        return _draw_sentence(text, random)

    def draw_row(self, table: Table, random: Random) -> Statement:
        """Return a true statement of a table, without a quotation."""
        while True:
            made = random.choice(ROW_MAKERS)(table, random)
            if made:
                return made

    def draw_name(self, avoid: str, random: Random) -> str:
        """Return a name, of any document, that shares no word with a text."""
        lowered = avoid.lower()
        while True:
            names = random.choice(self.texts).names
            name = random.choice(sorted(names)) if names else ""
            if name and not any(word.lower() in lowered for word in name.split()):
                return name


def _draw_sentence(text: Text, random: Random) -> Statement:
    for _ in range(MAX_DRAWS):
        pool = text.figured if text.figured and random.random() < 0.75 else text.sentences
        made = random.choice(MAKERS)(random.choice(pool), text.document, random)
        if made:
            return made
    made = state_verbatim(text.sentences[0], text.document, random)
    assert made is not None, "any sentence is a claim"
    return made


def quote_exactly(statement: Statement) -> Statement:
    """Return a statement with the evidence as its quotation."""
    return replace(statement, quotation=statement.evidence)
