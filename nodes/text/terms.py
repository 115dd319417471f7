"""The terms of a sentence: its content words as stems, so that different wordings match."""

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS

STEM_CHARS = 6
"""Words are cut to this length: "injection" and "injected" are one term."""

_WORD = Pattern(r"[^\W\d_][\w\-]*|[^\W\d]{0,60}+\d[\d_\-]{0,60}+[^\W\d_][\w\-]*")


def extract_terms(text: str) -> frozenset[str]:
    """Return the terms of a text: lower-case stems, without function words and plain numbers."""
    return frozenset(word[:STEM_CHARS] for word in extract_words(text))


def extract_words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without function words and plain numbers."""
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word for word in words if word not in FUNCTION_WORDS)


def extract_names(text: str) -> frozenset[str]:
    """Return the terms that are names: written with a capital letter or a digit."""
    names = []
    for index, word in enumerate(_WORD.findall(text)):
        is_article = index == 0 and word.casefold() in FUNCTION_WORDS
        if not is_article and (word[0].isupper() or any(c.isdigit() for c in word)):
            names.append(word.casefold()[:STEM_CHARS])
    return frozenset(names)


def measure_overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of the smaller set that both sets contain; 0 when one is empty."""
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0
