"""Detect vague descriptions: those that would fit any request."""

import re
from dataclasses import dataclass, field
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
_EXACT_SCORE, _NAME_SCORE, _REFERENCE_SCORE, _COMMON_SCORE, _TOPIC_SCORE = 2.0, 1.0, 1.0, 0.5, 0.5
_PRECISE_VERB_SCORE, _MAKING_VERB_SCORE = 1.5, 1.0

_NO_OBJECT = "it does not name what to work on: name the object, such as a company, file or clause"

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
    named = _read_description(description)
    if not named.is_english:
        return None
    if named.object_score and named.object_score + named.verb_score >= _MIN_SCORE:
        return None
    if not named.names and not named.references:
        return _NO_OBJECT
    return "it does not name what to find out or make: name a result that can be checked"


@dataclass
class _NamedContent:
    """What a description names."""

    exact_names: set[str] = field(default_factory=set)
    """Quoted text, file names, addresses, code and proper names."""
    names: set[str] = field(default_factory=set)
    references: set[str] = field(default_factory=set)
    common_nouns: set[str] = field(default_factory=set)
    topics: set[str] = field(default_factory=set)
    verb_score: float = 0.0
    is_english: bool = True

    @property
    def object_score(self) -> float:
        return (
            _EXACT_SCORE * bool(self.exact_names)
            + _NAME_SCORE * len(self.names)
            + _REFERENCE_SCORE * bool(self.references)
            + _COMMON_SCORE * len(self.common_nouns)
            + _TOPIC_SCORE * bool(self.topics)
        )


def _read_description(description: str) -> _NamedContent:
    literals, prose = _split_literals(description.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    words = _WORD.findall(_IDIOM.sub(" ", prose))
    plain = [word.lower().removesuffix("'s") for word in words]
    named = _NamedContent(
        exact_names=literals, verb_score=_score_opening(plain), is_english=_is_english(plain)
    )
    capitals_name = not description.istitle() and not description.isupper()
    for index, word in enumerate(plain):
        if word[0].isdigit() and _is_size(plain[index : index + 2]):
            continue
        if index and capitals_name and len(word) > 1 and words[index][0].isupper():
            _classify_capitalised(word, words[index].removesuffix("'s").isupper(), named)
        else:
            _classify_word(word, words[index - 1].lower() if index else "", len(words), named)
    return named


def _split_literals(description: str) -> tuple[set[str], str]:
    """Return quoted text, file names, addresses and code; and the prose around them."""
    literals = set(_QUOTED.findall(description))
    prose = []
    for piece in _QUOTED.sub(" ", description).split():
        if _CODE.search(piece) and not _ABBREVIATION.match(piece):
            literals.add(piece.lower())
        else:
            prose.append(piece)
    return literals, " ".join(prose)


@lru_cache(maxsize=4096)
def _is_task_id(word: str) -> bool:
    return _TASK_ID.match(word) is not None


def _classify_capitalised(word: str, is_acronym: bool, named: _NamedContent) -> None:
    if _is_task_id(word):
        named.references.add(word)
    elif is_acronym or is_generic(word) or is_verb(word):
        named.names.add(word)
    else:
        named.exact_names.add(word)


def _classify_word(word: str, before: str, total: int, named: _NamedContent) -> None:
    if _is_task_id(word):
        named.references.add(word)
    elif is_verb(word) and not (before in DETERMINERS or before.endswith("'s")):
        named.verb_score = max(
            named.verb_score,
            _PRECISE_VERB_SCORE if list_base_forms(word) & PRECISE_VERBS else _MAKING_VERB_SCORE,
        )
    elif list_base_forms(word) & TOPIC_NOUNS:
        named.topics.add(word)
    elif list_base_forms(word) & COMMON_NOUNS:
        named.common_nouns.add(word)
    elif not is_generic(word) and (before or total < 3):
        # An unlisted first word counts as a precise verb, see `_score_opening`.
        named.names.add(word)


def _score_opening(words: list[str]) -> float:
    """Return the score of what else makes a result checkable: question, criterion, first word."""
    if not words:
        return 0.0
    opening = words[0]
    if "whether" in words or "if" in words[:3] or opening in QUESTION_WORDS:
        return _PRECISE_VERB_SCORE
    if not (is_generic(opening) or is_verb(opening)):
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


def _is_english(words: list[str]) -> bool:
    known = sum(is_generic(word) or is_verb(word) for word in words)
    return known * 4 >= len(words)
