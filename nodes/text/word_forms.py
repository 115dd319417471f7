"""Looks words up in the closed lists, in any inflected form."""

from functools import lru_cache

from nodes.text.word_lists import (
    FUNCTION_WORDS,
    GENERIC_WORDS,
    MAKING_VERBS,
    PRECISE_VERBS,
    UNSPECIFIC_WORDS,
)

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
