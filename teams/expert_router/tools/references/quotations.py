"""Quote what the user's own documents state about a query."""

import re
from typing import NamedTuple

from extensions.tools.documents.index import PassageIndex
from nodes.limits.patterns import Pattern

from .coverage import extract_keywords, find_covering_passages

MAX_QUOTE_CHARS = 700
STEM_CHARS = 5

_BREAK = Pattern(r"\n[ \t]*\n")
_INSTRUCTION = Pattern(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|prompts?)\b"
    r"|\b(?:ignore|disregard|forget) (?:all |any |your |the |these |previous )*rules\b"
    r"|^[^\w\n]*+(?:system|assistant)\W*:"
    r"|\byou (?:are|act as) (?:now )?(?:an? )?(?:ai|assistant|chatbot|language model)\b"
    r"|\b(?:ai|language) models? (?:must|should|shall)\b",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)


class Quotation(NamedTuple):
    """Words of a document, verbatim."""

    source: str
    place: str
    text: str


def find_quotations(
    index: PassageIndex, query: str, limit: int
) -> tuple[list[Quotation], list[str]]:
    """Return quotations that answer a query, the best first; and the sources of withheld ones.

    A passage that addresses a program that reads it is no reference, and is withheld.
    """
    stems = [word[:STEM_CHARS] for word in extract_keywords(query)]
    found = [
        Quotation(each.source, each.place, _choose_quote(each.text, stems))
        for each in find_covering_passages(index, query)
    ]
    kept = [each for each in found if not _INSTRUCTION.search(each.text)]
    return kept[:limit], sorted({each.source for each in found if each not in kept})


def _choose_quote(text: str, stems: list[str]) -> str:
    """Return the paragraph with most of the query's words, cut at a line or word if it is long."""
    parts = [part.strip() for part in _BREAK.split(text)]
    paragraphs = [part for part in parts if part and not part.startswith("#")] or [text]
    best = max(paragraphs, key=lambda part: sum(stem in part.lower() for stem in stems))
    if len(best) <= MAX_QUOTE_CHARS:
        return best
    cut = max(best.rfind(mark, 0, MAX_QUOTE_CHARS) for mark in (". ", "\n", " "))
    return best[: cut + 1 if cut > 0 else MAX_QUOTE_CHARS].strip()
