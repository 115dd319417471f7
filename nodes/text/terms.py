"""The forms of words: the terms of a sentence as stems, and words of the closed lists in any form.

Different wordings of one thing have the same terms: content words, cut to stems.
"""

from functools import lru_cache

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import (
    FUNCTION_WORDS,
    GENERIC_WORDS,
    MAKING_VERBS,
    PRECISE_VERBS,
    UNSPECIFIC_WORDS,
)

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


_ENDINGS = (
    ("ies", "y"),
    ("ing", ""),
    ("ing", "e"),
    ("ed", ""),
    ("ed", "e"),
    ("es", ""),
    ("s", ""),
    ("ally", ""),
    ("ily", "y"),
    ("ly", ""),
    ("y", "e"),
)
_MIN_TYPO_CHARS, _MAX_TYPO_CHARS = 7, 20


@lru_cache(4096)
def list_base_forms(word: str) -> frozenset[str]:
    """Return the possible base forms of a word; some of them are not real words."""
    if word in FUNCTION_WORDS:
        return frozenset({word})
    forms = {word}
    for ending, stem in _ENDINGS:
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3:
            forms.add(root + stem)
            if len(root) > 3 and root[-1] == root[-2]:
                forms.add(root[:-1])
    return frozenset(forms)


@lru_cache(4096)
def is_generic(word: str) -> bool:
    """Return whether a word, or each part of it, fits any task; small typos are tolerated."""
    if list_base_forms(word) & UNSPECIFIC_WORDS:
        return True
    if "-" in word:
        return all(is_generic(part) for part in word.split("-"))
    if not _MIN_TYPO_CHARS <= len(word) <= _MAX_TYPO_CHARS:
        return False
    return not _KNOWN_TYPOS.isdisjoint(_drop_one_letter(word))


def is_verb(word: str) -> bool:
    """Return whether a word may be a verb that asks for a result."""
    return bool(list_base_forms(word) & (MAKING_VERBS | PRECISE_VERBS))


def _drop_one_letter(word: str) -> set[str]:
    return {word} | {word[:index] + word[index + 1 :] for index in range(len(word))}


_KNOWN_TYPOS = frozenset(
    typo
    for word in GENERIC_WORDS
    if len(word) >= _MIN_TYPO_CHARS
    for typo in _drop_one_letter(word)
)
