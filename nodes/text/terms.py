"""What a sentence is about: its words of content, reduced so that other wordings still meet."""

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS

STEM_CHARS = 6
"""Words are cut to this length: "injection" and "injected" are one term."""

_WORD = Pattern(r"[^\W\d_][\w\-]*|[^\W\d]{0,60}+\d[\d_\-]{0,60}+[^\W\d_][\w\-]*")


def extract_terms(text: str) -> frozenset[str]:
    """Give the terms of a text: lower case, cut to the stem, grammar left out; no plain numbers."""
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:STEM_CHARS] for word in words if word not in FUNCTION_WORDS)


def extract_names(text: str) -> frozenset[str]:
    """Return the terms that name something: written with a capital letter or with a digit."""
    found = []
    for index, word in enumerate(_WORD.findall(text)):
        is_article = index == 0 and word.casefold() in FUNCTION_WORDS
        if not is_article and (word[0].isupper() or any(c.isdigit() for c in word)):
            found.append(word.casefold()[:STEM_CHARS])
    return frozenset(found)


def measure_overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of the smaller set that both have; 0 when one is empty."""
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0
