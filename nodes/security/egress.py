"""Limits what may be sent outside after private data was read: known addresses and words."""

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
    """Return an address without its scheme, fragment and final slash, for comparison."""
    return urldefrag(address.strip()).url.partition("://")[2].rstrip("/") or (
        address.strip().rstrip("/")
    )


def extract_addresses(text: str) -> frozenset[str]:
    """Return all parts of a text that could be an address, without surrounding punctuation."""
    found = set[str]()
    for token in _ADDRESS_BREAK.split(text):
        for part in (token, *token.replace("](", " ").split(), *Pattern(r"[()\[\]]").split(token)):
            found |= {
                normalize_address(part),
                normalize_address(part.lstrip(_OPENING).rstrip(_CLOSING)),
            }
    return frozenset(part for part in found if "." in part)


def restrict_to_known_words(query: str, known: str) -> str:
    """Return a query of known words only, each once and in the order of the known text.

    Order and repetition could leak what a choice of known words cannot. Function words leak
    nothing and are dropped.

    Raises:
        ToolRefused: a word is not known; the message names it.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(_WORD.findall(known)):
        places.setdefault(_stem_word(word), place)
    asked = {_stem_word(word): word for word in _extract_content_words(query)}
    unknown = [word for stem, word in asked.items() if _find_position(stem, places, known) is None]
    if unknown:
        listing = ", ".join(unknown[:_MAX_NAMED_WORDS]) + (
            ", …" if len(unknown) > _MAX_NAMED_WORDS else ""
        )
        raise ToolRefused(
            "private data was read for this task, so only words of the request may still be sent "
            f"outside. Not among them: {listing}. Search with words of the request only, or report "
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
    """Return the position of a known word; in scripts without spaces it may be inside another."""
    if stem in places:
        return places[stem]
    position = -1 if stem.isascii() else known.casefold().find(stem)
    return None if position < 0 else position


def _stem_word(word: str) -> str:
    word = word.casefold()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
