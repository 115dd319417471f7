"""Tell a description that names its work from one that would fit any request."""

import re
from dataclasses import dataclass, field

from nodes.checks.lexicon import forms, is_generic, is_verb
from nodes.checks.words import (
    ASKING,
    COMMON,
    DETERMINERS,
    FUNCTION,
    INSPECTING_VERBS,
    PRECISE_VERBS,
    QUESTIONS,
    TOPICS,
    YARDSTICKS,
)
from nodes.limits.patterns import Pattern

_ENOUGH = 2.0
_NAME, _REFERENCE, _COMMON, _TOPIC = 1.0, 1.0, 0.5, 0.5
_PRECISE, _MAKING = 1.5, 1.0
_LONG, _OBJECTS_OF_LONG = 9, 3.0

_NO_OBJECT = "it does not say what to work on: name the object, such as a company, file or clause"

_QUOTED = Pattern(r"`[^`]+`|\"[^\"]+\"|“[^”]+”")
_CODE = Pattern(r"://|[\\_@#=<>%$€£]|^[/~][\w.]|\w\.[A-Za-z]\w{0,4}[\W_]*$")
_ABBREVIATION = Pattern(r"^\W*(?:[A-Za-z]\.)+\W*$")
_IDIOM = Pattern(r"\bmak(?:e|ing) (?:sure|it|them)\b", re.IGNORECASE)
_TASK_ID = Pattern(r"^[a-z]{1,4}[-_]?\d{1,3}$")
_WORD = Pattern(r"\w+(?:[-'.,]\w+)*")


def vagueness(description: str) -> str | None:
    """Say in one sentence what a description lacks; None when it names its work.

    Points are given for what is named: a word outside the closed lists, a number, a file, quoted
    text, a task's id, a verb whose result can be checked. Text that is not recognisably English
    passes.
    """
    if not any(map(str.isalpha, description)):
        return _NO_OBJECT
    named = _read(description)
    if not named.is_english:
        return None
    if named.objects and named.objects + named.verb >= _ENOUGH and not named.is_padding:
        return None
    if not named.names and not named.references:
        return _NO_OBJECT
    return "it does not say what to find out or make: name a result that can be checked"


@dataclass
class _Named:
    """What a description names."""

    names: set[str] = field(default_factory=set)
    references: set[str] = field(default_factory=set)
    common: set[str] = field(default_factory=set)
    topics: set[str] = field(default_factory=set)
    verb: float = 0.0
    content: int = 0
    """Words that are not mere grammar."""
    is_english: bool = True

    @property
    def objects(self) -> float:
        return (
            _NAME * len(self.names)
            + _REFERENCE * bool(self.references)
            + _COMMON * len(self.common)
            + _TOPIC * bool(self.topics)
        )

    @property
    def is_padding(self) -> bool:
        """Tell many words that name next to nothing."""
        return self.content >= _LONG and self.objects < _OBJECTS_OF_LONG and self.verb < _PRECISE


def _read(description: str) -> _Named:
    literals, prose = _literals(description.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    words = _WORD.findall(_IDIOM.sub(" ", prose))
    plain = [word.lower().removesuffix("'s") for word in words]
    named = _Named(names=literals, verb=_question(plain), is_english=_is_english(plain))
    capitals_name = not description.istitle() and not description.isupper()
    for index, word in enumerate(plain):
        named.content += word not in FUNCTION
        if word[0].isdigit() and _is_size(plain[index : index + 2]):
            continue
        if index and capitals_name and len(word) > 1 and words[index][0].isupper():
            (named.references if _TASK_ID.match(word) else named.names).add(word)
        else:
            _place(word, words[index - 1].lower() if index else "", len(words), named)
    return named


def _literals(description: str) -> tuple[set[str], str]:
    """Part quoted text, file names, addresses and code from prose."""
    found = set(_QUOTED.findall(description))
    prose = []
    for piece in _QUOTED.sub(" ", description).split():
        if _CODE.search(piece) and not _ABBREVIATION.match(piece):
            found.add(piece.lower())
        else:
            prose.append(piece)
    return found, " ".join(prose)


def _place(word: str, before: str, total: int, named: _Named) -> None:
    if _TASK_ID.match(word):
        named.references.add(word)
    elif is_verb(word) and not (before in DETERMINERS or before.endswith("'s")):
        named.verb = max(named.verb, _PRECISE if forms(word) & PRECISE_VERBS else _MAKING)
    elif forms(word) & TOPICS:
        named.topics.add(word)
    elif forms(word) & COMMON:
        named.common.add(word)
    elif not is_generic(word) and (before or total < 3):
        # An unlisted opening is taken for a precise verb, see `_question`.
        named.names.add(word)


def _question(words: list[str]) -> float:
    """Weigh what makes a result checkable besides its verb: a question, a yardstick, an opening."""
    if not words:
        return 0.0
    opening = words[0]
    if "whether" in words or "if" in words[:3] or not (is_generic(opening) or is_verb(opening)):
        return _PRECISE
    if forms(opening) & INSPECTING_VERBS and _has_yardstick(words):
        return _PRECISE
    return _MAKING if opening in QUESTIONS or ASKING & set(words) else 0.0


def _has_yardstick(words: list[str]) -> bool:
    """Tell "for missing dates" and "on price" from "for issues"."""
    at = [index for index, word in enumerate(words) if word in YARDSTICKS]
    return bool(at) and ("against" in words or not all(map(is_generic, words[at[0] + 1 :])))


def _is_size(words: list[str]) -> bool:
    """Tell "3 insights" and "2-page report" from a number that names something."""
    unit = (words[0].split("-") + words[1:])[1:2]
    return any(
        len(word) > 1 and (is_generic(word) or bool(forms(word) & (TOPICS | COMMON)))
        for word in unit
    )


def _is_english(words: list[str]) -> bool:
    known = sum(is_generic(word) or is_verb(word) for word in words)
    return known * 4 >= len(words)
