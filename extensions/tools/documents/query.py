"""Read a query as terms: words, and what is written together, such as a version or a name."""

from collections.abc import Iterable

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS

MAX_QUERY_WORDS = 32
STOP_WORDS = FUNCTION_WORDS | QUESTION_WORDS | {"compare", "find", "give", "list", "show"}

_COMPOUND = Pattern(r"\w+(?:[.\-/:@+]\w+)*+")
_PART = Pattern(r"[^\W_]+")
_VERSION = Pattern(r"(?<!\w)v?+\d\w*+(?:[.\-]\w++)++")


def list_query_terms(query: str) -> tuple[tuple[str, ...], ...]:
    """Return the terms of a query, each as words that follow each other in a text.

    A version, date or number is one term, `v` before it or not; of another compound its parts are
    terms too. Words without content come last.
    """
    found = dict[tuple[str, ...], None]()
    for compound in _COMPOUND.findall(query.lower()):
        parts = tuple(_PART.findall(compound))
        if _VERSION.fullmatch(compound):
            bare = (parts[0].removeprefix("v"), *parts[1:])
            found |= {parts: None, bare: None, (f"v{bare[0]}", *bare[1:]): None}
        elif parts:
            found |= {(part,): None for part in parts} | {parts: None}
    ordered = sorted(found, key=is_light)
    return tuple(ordered[:MAX_QUERY_WORDS])


def is_light(term: tuple[str, ...]) -> bool:
    """Return whether a term is a word without content, which counts little."""
    return len(term) == 1 and term[0] in STOP_WORDS


def build_match_expression(terms: Iterable[tuple[str, ...]]) -> str:
    """Return an FTS5 expression that matches any of the terms; nothing in it is syntax."""
    return " OR ".join(f'"{" ".join(term)}"' for term in terms)
