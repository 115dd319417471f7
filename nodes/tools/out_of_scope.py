"""Requests that a team is not for: telling them, and what a tool answers to them."""

from collections.abc import Iterable
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.terms import STEM_CHARS, extract_terms
from nodes.text.word_forms import is_generic, is_verb
from nodes.text.word_lists import FUNCTION_WORDS

MIN_FOREIGN_WORDS = 2
"""Words that must be foreign, and none known, for a question to be of something else."""

_WORD = Pattern(r"[^\W\d_][\w\-]+")


def find_foreign_words(
    question: str, vocabulary: frozenset[str], texts: Iterable[str]
) -> list[str]:
    """Return the words of a question of which none is of a vocabulary or of some texts.

    None are given where one is known, where there are too few to tell, and where the question is
    not English, as far as can be told. The vocabulary is of terms.
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
    """Hand the task back in the report's own words."""
    return {"escalation": {"reason": "out_of_scope", "message": message}}
