"""Finds the parts of a request that no report says anything about, by their words."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.models.embedded.arguments import SMALL_NUMBERS
from nodes.models.embedded.column_matching import (
    COMPARING_WORDS,
    MIN_PREFIX_CHARS,
    YEAR,
    is_same_word,
    list_measured_phrases,
    list_nouns_of,
)
from nodes.models.embedded.prompt_reading import (
    list_claims,
    list_objects,
    read_quoted_request,
    remove_code_spans,
)
from nodes.models.embedded.text_similarity import pair_words, split_sentences
from nodes.text.word_forms import is_generic, is_verb
from nodes.text.word_lists import (
    AUXILIARY_VERBS,
    CONDITION_WORDS,
    FUNCTION_WORDS,
    INSPECTING_VERBS,
    PRONOUNS,
    QUESTION_WORDS,
)

MAX_SHARE_MISSING: Final = 0.5
"""Above this share of a part's words in no report, the part is unanswered."""
MAX_PARTS: Final = 24
MAX_PART_CHARS: Final = 300
"""A longer part is no single question, and is not compared."""
_SEPARATOR: Final = Pattern(r"[;:]\s|,\s(?:and\s|or\s|but\s)?|\s(?:and|as well as|plus)\s")
_COUNTED: Final = Pattern(r"^(?:how many|who)\s+([\w-]+)", re.IGNORECASE)
_NAME: Final = Pattern(r"(?<=[\w,;] )(?!(?:EUR|USD|GBP|CHF|JPY)\b)[A-Z][\w\-]+|\b(?:19|20)\d\d\b")
_UNNAMING: Final = FUNCTION_WORDS.union(COMPARING_WORDS, SMALL_NUMBERS)
_QUESTION_OPENINGS: Final = QUESTION_WORDS | AUXILIARY_VERBS
_ASKING: Final = _QUESTION_OPENINGS | INSPECTING_VERBS | {"also", "please"}


_Words = Mapping[str, Set[str]]
"""Words of reports by their first letters, which all forms of a word share."""


@dataclass(frozen=True)
class _Part:
    """A part of a request, and what its first words say of it."""

    text: str
    asks: bool
    """It asks for something, and by its own words."""
    is_statement: bool
    """It tells something, as a sentence that begins with an article does."""
    listed: tuple[str, ...] = ()
    """The parts that an instruction lists after its colon: they are what it asks for."""


def list_unanswered_parts(request: str, reports: Iterable[dict[str, Any]]) -> list[str]:
    """Return the parts of a request whose words are in no report, as the request has them.

    The reports must have the words of one part: else they may use other words for it. A question
    is unanswered, too, if they lack only a name in it, or only the word for what it asks. The
    name of a task that was done, as of a review for bugs, answers a part, too. A task that this
    model made from an example has no parts: its words tell how to work.
    """
    if read_quoted_request(request):
        return []
    done = list(reports)
    texts = [text for report in done for text in list_texts(report)]
    names = [str(report.get(key, "")) for report in done for key in ("task", "worker")]
    said, known = _index_words(texts), _index_words([*texts, *names])
    parts = list(islice(_split_parts(request), MAX_PARTS))
    if all(part.is_statement or _is_missing(part.text, said) for part in parts):
        return []
    unanswered = (
        part.text
        for part in parts
        if part.asks
        and not _is_answered_by_its_list(part, known)
        and (
            _lacks_asked_word(part.text, known)
            or (_is_missing(part.text, known) and _is_specific(part.text, known))
        )
    )
    return list(dict.fromkeys(unanswered))


def split_request(request: str) -> list[str]:
    """Return the parts of a request that ask for something, but not for a reason."""
    if read_quoted_request(request):
        return []
    parts = islice(_split_parts(request), MAX_PARTS)
    return [part.text for part in parts if part.asks and not part.text.lower().startswith("why")]


def list_texts(report: dict[str, Any]) -> list[str]:
    """Return the texts of a report's content."""
    items = (*list_claims(report), *list_objects(report, "findings"))
    values = (value for item in items for value in item.values() if isinstance(value, str))
    return [str(report.get("output", "")), *values]


def _split_parts(request: str) -> Iterator[_Part]:
    """Yield the parts of a request's sentences; of one that asks, all parts after the first do."""
    for sentence in split_sentences(remove_code_spans(request)):
        has_asked = False
        is_statement = _is_statement(sentence)
        texts = _join_conditions(_SEPARATOR.split(sentence))
        listed = _list_after_colon(sentence)
        for place, text in enumerate(texts, start=1 - len(texts)):
            words = text.lower().split()
            has_asked = has_asked or _asks(words[0])
            is_own = words[0] not in CONDITION_WORDS and PRONOUNS.isdisjoint(words)
            is_own = is_own and len(text) <= MAX_PART_CHARS
            yield _Part(
                text,
                has_asked and is_own,
                is_statement and not has_asked,
                listed if place == -len(listed) else (),
            )


def _list_after_colon(sentence: str) -> tuple[str, ...]:
    """Return the parts that a sentence lists after its first colon; conditions list nothing."""
    texts = _join_conditions(_SEPARATOR.split(sentence.partition(": ")[2]))
    return () if texts and texts[0].split()[0].lower() in CONDITION_WORDS else tuple(texts)


def _is_statement(sentence: str) -> bool:
    """Return whether a sentence begins as a statement: "The shop …", not "At which price …?"."""
    first = sentence.lower().partition(" ")[0]
    is_question = sentence.endswith("?") and first in CONDITION_WORDS
    return first in FUNCTION_WORDS - _ASKING and not is_question


def _join_conditions(texts: Iterable[str]) -> list[str]:
    """Return the texts that are not empty, each with the conditions that follow it."""
    joined = list[str]()
    for text in filter(None, (text.strip(" .?!") for text in texts)):
        if joined and text.split()[0].lower() in CONDITION_WORDS:
            joined[-1] = f"{joined[-1]}, {text}"
        else:
            joined.append(text)
    return joined


def _asks(first: str) -> bool:
    """Return whether a part with this first word is a question or an instruction."""
    is_instruction = is_verb(first) or is_generic(first)
    return first in _ASKING or (is_instruction and first not in FUNCTION_WORDS)


def _is_missing(part: str, known: _Words) -> bool:
    """Return whether most words of a part are unknown; also true of a part without words."""
    words = _list_words(part[:MAX_PART_CHARS])
    return not words or len(_list_missing(words, known)) > MAX_SHARE_MISSING * len(words)


def _is_answered_by_its_list(part: _Part, known: _Words) -> bool:
    """Return whether reports have some of an instruction's list, and the names before it.

    "Set the shops side by side: rent, size" asks for rent and size, each a part of its own.
    """
    if not part.listed or part.text.lower().partition(" ")[0] in _QUESTION_OPENINGS:
        return False
    names = " ".join(_NAME.findall(part.text))
    return not all(_is_missing(each, known) for each in part.listed) and not _list_missing(
        _list_words(names, with_years=True), known
    )


def _is_specific(part: str, known: _Words) -> bool:
    """Return whether the unknown words of a part say what it is about.

    One word of a question does not: "what should worry us" asks for what another part names.
    """
    missing = _list_missing(_list_words(part), known)
    is_question = part.lower().partition(" ")[0] in _QUESTION_OPENINGS
    return len(missing) > is_question and any(not is_generic(word) for _, word in missing)


def _lacks_asked_word(part: str, known: _Words) -> bool:
    """Return whether a direct question's name, year or asked word is in no report.

    The asked word follows "how many" or "who", or ends what a superlative is of: the largest
    market *share*.
    """
    first = part.lower().partition(" ")[0]
    if first not in QUESTION_WORDS:
        return False
    asked = {word for text in _list_asked_phrases(part) for word in text.lower().split()[-1:]}
    names = {name.lower() for name in _NAME.findall(part)}
    missing = {
        written.replace("\u2019", "'").removesuffix("'s")
        for _, written in _list_missing(_list_words(part, with_years=True), known)
    }
    return any(not is_generic(word) for word in missing & (asked | names))


def _list_asked_phrases(part: str) -> Iterator[str]:
    """Yield the words for what a question asks, each phrase up to its last word."""
    counted = _COUNTED.search(part)
    if counted:
        yield counted.group(1)
    yield from list_measured_phrases(part)


def _list_words(part: str, *, with_years: bool = False) -> list[tuple[str, str]]:
    """Return the words of a part that name its matter, each in its basic form and as written."""
    return [
        (word, written.lower())
        for word, written in pair_words(part)
        if word not in _UNNAMING
        and (not word.isdigit() or (with_years and YEAR.fullmatch(word)))
        and not is_verb(written.lower())
    ]


def _list_missing(words: Iterable[tuple[str, str]], known: _Words) -> list[tuple[str, str]]:
    return [pair for pair in words if not _is_known(*pair, known)]


def _is_known(word: str, written: str, known: _Words) -> bool:
    nouns = (word, *list_nouns_of(written))
    return any(
        noun == other or is_same_word(noun, other)
        for noun in nouns
        for other in known.get(_get_head(noun), ())
    )


def _index_words(texts: Iterable[str]) -> _Words:
    words = {word for text in texts for word, _ in pair_words(text.replace("_", " "))}
    index = defaultdict[str, set[str]](set)
    for word in words:
        index[_get_head(word)].add(word)
    return index


def _get_head(word: str) -> str:
    return word[:MIN_PREFIX_CHARS]
