"""Detect requests that are out of scope for a team, and escalate them."""

from collections.abc import Iterable
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.terms import STEM_CHARS, extract_terms, is_generic, is_verb
from nodes.text.word_lists import FUNCTION_WORDS

MIN_FOREIGN_WORDS = 2
"""Number of foreign words, with none known, from which a question is out of scope."""

_WORD = Pattern(r"[^\W\d_][\w\-]+")


def find_foreign_words(
    question: str, vocabulary: frozenset[str], texts: Iterable[str]
) -> list[str]:
    """Return the words of a question if none of them is in a vocabulary or in some texts.

    Returns none if one word is known, if there are too few words to decide, or if the question does
    not appear to be English. The vocabulary consists of terms.
    """
    said = _WORD.findall(question.lower())
    named = [word for word in said if not (is_generic(word) or is_verb(word))]
    if len(named) < MIN_FOREIGN_WORDS or not set(said) & FUNCTION_WORDS:
        return []
    if any(word[:STEM_CHARS] in vocabulary for word in said):
        return []
    known = extract_terms(" ".join(texts))
    return [] if any(word[:STEM_CHARS] in known for word in named) else list(dict.fromkeys(named))


def escalate_out_of_scope(message: str) -> dict[str, Any]:
    """Escalate the task as out of scope, in the form of a report."""
    return {"escalation": {"reason": "out_of_scope", "message": message}}
