"""Closed lists of English and German words, by what they reveal about a task.

The words, and what each list is for, are in `words.txt`.
"""

from pathlib import Path
from typing import Final


def _read_lists() -> dict[str, str]:
    """Return the words of each list by its name, which the first line of its block begins with."""
    blocks = Path(__file__).with_name("words.txt").read_text("utf-8").split("\n\n# ")[1:]
    heads = (block.partition("\n") for block in blocks)
    return {head.partition(":")[0]: words for head, _, words in heads}


_LISTS: Final = _read_lists()


def _get_words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


FUNCTION_WORDS: Final = _get_words("FUNCTION_WORDS")
NEGATIONS: Final = _get_words("NEGATIONS")
QUESTION_WORDS: Final = _get_words("QUESTION_WORDS")
ASKING_WORDS: Final = _get_words("ASKING_WORDS")
CRITERION_PREPOSITIONS: Final = _get_words("CRITERION_PREPOSITIONS")
DETERMINERS: Final = _get_words("DETERMINERS")
CONDITION_WORDS: Final = _get_words("CONDITION_WORDS")
PRONOUNS: Final = _get_words("PRONOUNS")
PRONOUN_REFERENCES: Final = _get_words("PRONOUN_REFERENCES")
BACK_REFERENCES: Final = PRONOUN_REFERENCES | _get_words("OTHER_BACK_REFERENCES")
MODAL_VERBS: Final = _get_words("MODAL_VERBS")
LIGHT_VERBS: Final = _get_words("LIGHT_VERBS")
AUXILIARY_VERBS: Final = _get_words("AUXILIARY_VERBS")
PRECISE_VERBS: Final = _get_words("PRECISE_VERBS")
MAKING_VERBS: Final = _get_words("MAKING_VERBS")
INSPECTING_VERBS: Final = _get_words("INSPECTING_VERBS")
TOPIC_NOUNS: Final = _get_words("TOPIC_NOUNS")
COMMON_NOUNS: Final = _get_words("COMMON_NOUNS")
GENERIC_WORDS: Final = _get_words("GENERIC_WORDS")
STOP_WORDS: Final = _get_words("STOP_WORDS")
WRITING_VERBS: Final = ("write", "draft")
"""Verbs that ask for a text in every team."""
UNSPECIFIC_WORDS: Final = FUNCTION_WORDS | QUESTION_WORDS | GENERIC_WORDS
"""Words that say nothing about this task."""

GERMAN_QUESTION_WORDS: Final = _get_words("GERMAN_QUESTION_WORDS")
GERMAN_AUXILIARY_VERBS: Final = _get_words("GERMAN_AUXILIARY_VERBS")
GERMAN_DETERMINERS: Final = _get_words("GERMAN_DETERMINERS")
GERMAN_CONDITION_WORDS: Final = _get_words("GERMAN_CONDITION_WORDS")
GERMAN_ORDERS: Final = _get_words("GERMAN_ORDERS")
GERMAN_FUNCTION_WORDS: Final = (
    GERMAN_QUESTION_WORDS
    | GERMAN_AUXILIARY_VERBS
    | GERMAN_DETERMINERS
    | _get_words("OTHER_GERMAN_FUNCTION_WORDS")
)

APPROVING_WORDS: Final = _get_words("APPROVING_WORDS")
FILLING_WORDS: Final = _get_words("FILLING_WORDS")
REJECTING_WORDS: Final = _get_words("REJECTING_WORDS")
DAYS: Final = _get_words("DAYS")

POLITE_WORDS: Final = _get_words("POLITE_WORDS")
EMPTY_WORDS: Final = _get_words("EMPTY_WORDS")
ORDERS: Final = _get_words("ORDERS")
OPENINGS: Final = _get_words("OPENINGS")
POINTERS: Final = _get_words("POINTERS")
RESULTS: Final = _get_words("RESULTS")
_FOLDED: Final = str.maketrans({"ä": "a", "ö": "o", "ü": "u"})


def fold_word(word: str) -> str:
    """Return a word in lower case and without umlauts."""
    return word.casefold().translate(_FOLDED)


SYNONYMS: Final = tuple(
    tuple(map(fold_word, line.split())) for line in _LISTS["SYNONYMS"].splitlines() if line
)
"""Groups of words that may be used for one another."""
