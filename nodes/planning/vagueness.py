"""Detect vague descriptions: those that would fit any request."""

import re
from functools import lru_cache

from nodes.limits.patterns import Pattern
from nodes.text.terms import is_generic, is_verb, list_base_forms
from nodes.text.word_lists import (
    ASKING_WORDS,
    COMMON_NOUNS,
    CRITERION_PREPOSITIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    INSPECTING_VERBS,
    PRECISE_VERBS,
    QUESTION_WORDS,
    TOPIC_NOUNS,
)

_MIN_SCORE = 2.0
_NAME_SCORE, _COMMON_SCORE, _TOPIC_SCORE = 1.0, 0.5, 0.5
_PRECISE_VERB_SCORE, _MAKING_VERB_SCORE = 1.5, 1.0
_NO_OBJECT = "it does not name what to work on: name the object, such as a company, file or clause"
_NO_RESULT = "it does not name what to find out or make: name a result that can be checked"

_QUOTED = Pattern(r"`[^`]+`|\"[^\"]+\"|“[^”]+”|(?<!\w)'[^']+'(?!\w)")
_CODE = Pattern(r"://|[\\_@#=<>%$€£]|^[/~][\w.]|\w\.[A-Za-z]\w{0,4}[\W_]*$")
_ABBREVIATION = Pattern(r"^\W*(?:[A-Za-z]\.)+\W*$")
_IDIOM = Pattern(r"\bmak(?:e|ing) (?:sure|it|them)\b", re.IGNORECASE)
_TASK_ID = Pattern(r"^[a-z]{1,4}[-_]?\d{1,3}$")
_WORD = Pattern(r"\w+(?:[-'.,]\w+)*")


@lru_cache(maxsize=4096)  # the tasks of a plan are read again with each of its versions
def explain_vagueness(description: str) -> str | None:
    """Return in one sentence what a description lacks; None when it names its work.

    Quoted text, a file, an address or a proper name is enough. Otherwise a description scores
    points for what it names: a word outside the closed lists, a number, a task's id, a verb whose
    result can be checked. Text that is not recognisably English passes.
    """
    if not any(map(str.isalpha, description)):
        return _NO_OBJECT
    if _QUOTED.search(description) or any(map(_is_literal, description.split())):
        return None
    words = _WORD.findall(_IDIOM.sub(" ", description))
    plain = [word.lower().removesuffix("'s") for word in words]
    known = [is_generic(word) or is_verb(word) for word in plain]
    is_english = sum(known) * 4 >= len(words)
    # In a line of capitals they name nothing.
    is_plain = description.istitle() or description.isupper()
    capitals = {at for at, word in enumerate(words) if at and word[0].isupper() and len(word) > 1}
    capitals -= capitals if is_plain else set()
    own = {at for at in capitals if not (words[at].removesuffix("'s").isupper() or known[at])}
    if not is_english or any(not _TASK_ID.match(plain[at]) for at in own):
        return None
    names, object_score, verb_score = _score_words(plain, known, capitals)
    if object_score and object_score + max(verb_score, _score_opening(plain)) >= _MIN_SCORE:
        return None
    return _NO_RESULT if names else _NO_OBJECT


def _is_literal(piece: str) -> bool:
    """Return whether a piece of text is a file name, an address or code."""
    return bool(_CODE.search(piece)) and not _ABBREVIATION.match(piece)


def _score_words(
    words: list[str], known: list[bool], capitals: set[int]
) -> tuple[set[str], float, float]:
    """Return the words that name something, the score of objects and that of the best verb.

    An unlisted first word counts as a precise verb, see `_score_opening`.
    """
    names, common, topics, verb_score = set[str](), set[str](), set[str](), 0.0
    for at, word in enumerate(words):
        forms, before = list_base_forms(word), words[at - 1] if at else ""
        if word[0].isdigit() and _is_size(words[at : at + 2]):
            continue
        if at in capitals:
            names.add(word)
        elif is_verb(word) and not (before in DETERMINERS or before.endswith("'")):
            is_precise = bool(forms & PRECISE_VERBS)
            verb_score = max(verb_score, _PRECISE_VERB_SCORE if is_precise else _MAKING_VERB_SCORE)
        elif forms & TOPIC_NOUNS:
            topics.add(word)
        elif forms & COMMON_NOUNS:
            common.add(word)
        elif not known[at] and (at or len(words) < 3):
            names.add(word)
    objects = _NAME_SCORE * len(names) + _COMMON_SCORE * len(common) + _TOPIC_SCORE * bool(topics)
    return names, objects, verb_score


def _score_opening(words: list[str]) -> float:
    """Return the score of what else makes a result checkable: question, criterion, first word."""
    opening = words[0] if words else ""
    if "whether" in words or "if" in words[:3] or opening in QUESTION_WORDS:
        return _PRECISE_VERB_SCORE
    if words and not (is_generic(opening) or is_verb(opening)):
        return _PRECISE_VERB_SCORE
    if list_base_forms(opening) & INSPECTING_VERBS and _has_criterion(words):
        return _PRECISE_VERB_SCORE
    return _MAKING_VERB_SCORE if ASKING_WORDS & set(words) else 0.0


def _has_criterion(words: list[str]) -> bool:
    """Return whether a criterion is named: "for missing dates" or "on price", not "for issues"."""
    at = [index for index, word in enumerate(words) if word in CRITERION_PREPOSITIONS]
    return bool(at) and ("against" in words or not all(map(is_generic, words[at[0] + 1 :])))


def _is_size(words: list[str]) -> bool:
    """Return whether a number is only a size, as in "3 insights" or "2-page report"."""
    unit = (words[0].split("-") + words[1:])[1:2]
    return any(
        len(word) > 1
        and word not in FUNCTION_WORDS
        and (is_generic(word) or bool(list_base_forms(word) & (TOPIC_NOUNS | COMMON_NOUNS)))
        for word in unit
    )
