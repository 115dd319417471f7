"""What may leave after private data was read: addresses and words that were known before it."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urldefrag

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS

_WORD: Final = Pattern(r"[^\W_]+")
_ADDRESS_BREAK: Final = Pattern(r"[\s<>\"`|\\^{}]+")
_OPENING, _CLOSING = "([{'\u201c\u2018*_", ")]}'\u201d\u2019*_.,;:!?"
_MAX_NAMED_WORDS: Final = 8


def normalize_address(address: str) -> str:
    """Return an address without what two ways of writing it differ in: scheme, fragment, end."""
    return urldefrag(address.strip()).url.partition("://")[2].rstrip("/") or (
        address.strip().rstrip("/")
    )


def extract_addresses(text: str) -> frozenset[str]:
    """Give all in a text that could be an address, bare and without what surrounds it in prose."""
    found = set[str]()
    for token in _ADDRESS_BREAK.split(text):
        for part in (token, *token.replace("](", " ").split(), *Pattern(r"[()\[\]]").split(token)):
            found |= {
                normalize_address(part),
                normalize_address(part.lstrip(_OPENING).rstrip(_CLOSING)),
            }
    return frozenset(part for part in found if "." in part)


def restrict_to_known_words(query: str, known: str) -> str:
    """Word a query of known words alone, each once and in the order in which they are known.

    Order and repetition could carry what a choice of words cannot; function words carry nothing.

    Raises:
        ToolRefused: a word is not known; the message names it.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(_WORD.findall(known)):
        places.setdefault(_stem_word(word), place)
    asked = {_stem_word(word): word for word in _extract_content_words(query)}
    strange = [word for stem, word in asked.items() if _find_position(stem, places, known) is None]
    if strange:
        named = ", ".join(strange[:_MAX_NAMED_WORDS]) + (
            ", …" if len(strange) > _MAX_NAMED_WORDS else ""
        )
        raise ToolRefused(
            "private data was read for this task, so only words of the request may still go "
            f"outside. Not among them: {named}. Search with words of the request alone, or report "
            "what is missing"
        )
    order = sorted(asked, key=lambda stem: _find_position(stem, places, known) or 0)
    return " ".join(asked[stem] for stem in order)


def _extract_content_words(query: str) -> Iterable[str]:
    return (
        word
        for word in _WORD.findall(query)
        if word.casefold() not in FUNCTION_WORDS | QUESTION_WORDS
    )


def _find_position(stem: str, places: dict[str, int], known: str) -> int | None:
    """Return where a word is known; one of a script without spaces may stand within another."""
    if stem in places:
        return places[stem]
    found = -1 if stem.isascii() else known.casefold().find(stem)
    return None if found < 0 else found


def _stem_word(word: str) -> str:
    word = word.casefold()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
