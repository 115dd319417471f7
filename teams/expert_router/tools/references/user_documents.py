"""Quote what the user's own documents state about a question."""

import re
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.passages import Passage

from .question_words import QuestionWords, WordHolders

MAX_HITS_PER_WORD = 40
"""Passages examined for each word."""
MAX_QUOTE_CHARS = 700

_STEM_CHARS = 5
_BREAK = Pattern(r"\n[ \t]*\n")
_HEADING = Pattern(r"\A(?:#{1,6}[^\n]*\n+)+")
_INSTRUCTION = Pattern(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|prompts?)\b"
    r"|\b(?:ignore|disregard|forget) (?:all |any |your |the |these |previous )*rules\b"
    r"|^[^\w\n]*+(?:system|assistant)\W*:"
    r"|\byou (?:are|act as) (?:now )?(?:an? )?(?:ai|assistant|chatbot|language model)\b"
    r"|\b(?:ai|language) models? (?:must|should|shall)\b",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Quotation:
    """Words of a document, verbatim."""

    source: str
    place: str
    text: str

    @property
    def contains_instructions(self) -> bool:
        """Return whether it addresses a program that reads it, and so is not a reference."""
        return _INSTRUCTION.search(self.text) is not None


def find_quotations(index: PassageIndex, words: QuestionWords) -> list[Quotation]:
    """Return quotations that answer a question, the best first."""
    holding: dict[str, WordHolders[Passage]] = {
        word: ({hit.passage for hit in index.search(word, MAX_HITS_PER_WORD)}, set())
        for word in words.keywords
    }
    return [
        Quotation(passage.source, passage.place, _choose_quote(passage.text, words))
        for passage in words.rank_texts(holding)
    ]


def _choose_quote(text: str, words: QuestionWords) -> str:
    """Return the paragraph with most of the question's words, cut at a sentence if it is long."""
    paragraphs = [part.strip() for part in _BREAK.split(_HEADING.sub("", text)) if part.strip()]
    stems = {word[:_STEM_CHARS] for word in words.keywords}
    best = max(paragraphs or [text], key=lambda part: sum(stem in part.lower() for stem in stems))
    if len(best) <= MAX_QUOTE_CHARS:
        return best
    cut = max(best.rfind(mark, 0, MAX_QUOTE_CHARS) for mark in (". ", ".\n", "\n", " "))
    return best[: cut + 1 if cut > 0 else MAX_QUOTE_CHARS].strip()
