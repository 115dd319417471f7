"""The names and addresses of a statement, and those that its evidence does not have."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.proof.passages import list_words
from nodes.proof.texts import SourceText
from nodes.text.dates import MONTHS
from nodes.text.figures import is_number_word, is_unit
from nodes.text.phrases import detect_language
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS

_TOKEN: Final = Pattern(r"[^\W_][\w'\u2019&-]*")
_SENTENCE: Final = Pattern(r"(?:^\s{0,6}|[.!?:]\s{1,6}|[\"\u201c(\[|]\s{0,6}|\n[-*\s]{0,6})$")
_ADDRESS: Final = Pattern(
    r"(?:https?://|www\.)[^\s<>\"'`)\]]{1,2000}(?<![.,;:*])"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
)
_DAYS: Final = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonntag",
    ]
)
_LINKS: Final = Pattern(r"\s(?:to|of|the|a|an|in|on|for|by|with|that|if|zu|der|die|das|von)\b")
"""What follows a first word that is no name: according to, as the."""
MIN_ACRONYM_CHARS: Final = 2
MIN_ALIKE: Final = 0.6
_DEMONYM_ENDS: Final = ("ish", "ian", "ean", "ese", "an", "er", "isch", "ische", "ischen")


def find_addresses(text: str) -> list[str]:
    """Return the addresses of pages and mailboxes in a text."""
    return list(dict.fromkeys(_ADDRESS.findall(text)))


def list_foreign_names(
    text: str, around: str, sources: Sequence[SourceText], said: str = ""
) -> list[str]:
    """Return the names in a text that the words around its evidence do not have.

    A capitalized word is a name, at the beginning of a sentence only where no source has it in
    lower case, and a source has it as a name or `around` has a name in its place. In German, where
    each noun is capitalized, only an acronym and one of two such words side by side are.
    """
    text, is_german = _ADDRESS.sub(" ", text).replace("_", " "), detect_language(text) == "de"
    held = {
        _drop_genitive(token).casefold()
        for token in _TOKEN.findall(f"{around} {said}".replace("_", " "))
    }
    tokens = list(_TOKEN.finditer(text))
    claimed = {match[0].casefold() for match in tokens}
    foreign = list[str]()
    for at, match in enumerate(tokens):
        name = _drop_genitive(match[0])
        if not _is_capitalized(name) or _is_held(name, held, around):
            continue
        is_first = _begins_sentence(text, match.start())
        is_paired = not is_first and _has_neighbour(tokens, at, text)
        if is_german and not (is_paired or _is_acronym(name)):
            continue
        if is_first and _LINKS.match(text, match.end()):
            continue
        if not is_first or _is_name(
            name, sources, lacks_name=lambda: _replaces_name(text, around, claimed)
        ):
            foreign.append(name)
    return list(dict.fromkeys(foreign))


def _is_name(name: str, sources: Sequence[SourceText], lacks_name: Callable[[], bool]) -> bool:
    """Return whether a word at the beginning of a sentence is a name."""
    if any(name.casefold() in source.raw_words for source in sources):
        return False
    return any(name in source.raw_words for source in sources) or lacks_name()


def _replaces_name(text: str, around: str, claimed: set[str]) -> bool:
    """Return whether a text says the words of its evidence, but for a name of that."""
    words, held = list_words(text)[1:], {*list_words(around)}
    alike = sum(word in held for word in words) >= MIN_ALIKE * len(words)
    return alike and bool(words) and _lacks_name(around, claimed)


def _drop_genitive(name: str) -> str:
    return name.removesuffix("'s").removesuffix("\u2019s").rstrip("'\u2019-")


def _begins_sentence(text: str, start: int) -> bool:
    return bool(_SENTENCE.search(text[max(0, start - 6) : start]))


def _is_capitalized(name: str) -> bool:
    plain = name.casefold()
    if plain in FUNCTION_WORDS or plain in QUESTION_WORDS or plain in MONTHS or plain in _DAYS:
        return False
    is_short = len(name) < MIN_ACRONYM_CHARS or is_unit(plain) or is_number_word(name)
    return name[:1].isupper() and not is_short and not any(each.isdigit() for each in name)


def _is_acronym(name: str) -> bool:
    return len(name) >= MIN_ACRONYM_CHARS and name.isupper()


def _has_neighbour(tokens: Sequence[re.Match[str]], at: int, text: str) -> bool:
    """Return whether a capitalized word follows or comes before, with a space between."""
    pairs = [(at - 1, at), (at, at + 1)]
    return any(
        left >= 0
        and right < len(tokens)
        and text[tokens[left].end() : tokens[right].start()] == " "
        and _is_capitalized(tokens[left if right == at else right][0])
        and not _begins_sentence(text, tokens[left].start())
        for left, right in pairs
    )


def _is_held(name: str, held: set[str], around: str) -> bool:
    plain = name.casefold()
    if plain in held:
        return True
    if len(plain) >= 4 and any(
        len(other) >= 4 and (other.startswith(plain) or plain.startswith(other)) for other in held
    ):
        return True
    if plain.endswith(_DEMONYM_ENDS) and any(
        other[:4] == plain[:4] for other in held if len(other) > 4
    ):
        return True  # Swedish, of Sweden
    parts = [part for part in plain.replace("&", "-").split("-") if part]
    if len(parts) > 1 and all(part in held for part in parts):
        return True
    return _is_acronym(name) and _has_initials(name, around)


def _has_initials(acronym: str, text: str) -> bool:
    words = [word for word in _TOKEN.findall(text) if word[:1].isupper()]
    initials = "".join(word[0] for word in words).casefold()
    return acronym.casefold() in initials


def _lacks_name(around: str, claimed: Iterable[str]) -> bool:
    """Return whether the evidence has a name, inside a sentence or of two words, not claimed."""
    known, words = set(claimed), around.casefold()
    for match in _TOKEN.finditer(around):
        plain = match[0].casefold()
        if not _is_capitalized(match[0]) or plain in known:
            continue
        if not _begins_sentence(around, match.start()) or plain not in words[match.end() :]:
            return True
    return False
