"""Finds which number of a text is which parameter's: by the unit or the word directly beside it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.text.similarity import extract_words
from nodes.text.word_lists import FUNCTION_WORDS

Schema = Mapping[str, Any]
"""A JSON schema."""
_FIGURES: Final = r"[+-]?\d(?:[\d\\^_\u00b7]|[.,:/*-]++(?=[\d\\^_\u00b7]))*+"
_NUMBER: Final = Pattern(
    rf"(?<![\w.,/\\:#-]){_FIGURES}"
    rf"(?:[.,:/*-]*+\s*+(?:(?:[\u2013x+]|to|or|and|bis|oder|und)\s*+)?+{_FIGURES})*+"
)
"""One number, or several of which none is meant alone: "3 to 5"."""
_PLAIN: Final = Pattern(r"[+-]?(?!0*[1-9]\d{0,2}\.\d{3}$)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
"""A number that is the same in every country; 1.000 is not."""
_DENIED: Final = Pattern(r"\b(?:minus|negative|not|no|nicht|without|except)\W+$", re.IGNORECASE)
_UNIT: Final = r"[%€$£]|\b(?:percent|prozent|eur|euros?|usd|dollars?|gbp)\b"
_PER: Final = r"(?:per|an?|each|every)"
_WORD: Final = rf"(?!(?:{_PER}|and|or|und|oder)\b)([^\W\d_]+)"
_AT_MOST: Final = r"at most|up to|below|under|(?:less|fewer) than|höchstens|maximal|unter"
_AT_LEAST: Final = r"at least|above|over|more than|mindestens|über"
_LIMIT: Final = Pattern(
    rf"(?:\b(no|not|nothing|keine?)\W{{1,3}}+(?:[^\W\d_]{{1,40}}+ ){{0,3}}?)?"
    rf"\b((?:({_AT_MOST})|{_AT_LEAST}) {{1,3}}+(?:(?:the|of) ){{0,2}})(?:{_UNIT})? ?$",
    re.IGNORECASE,
)
"""Of "no trade below 250 EUR": the denial, the words, and those again that set the most."""
_BEFORE: Final = Pattern(
    r"(?:(?:\b([^\W\d_]{1,40}+) )?(?<!\d )\b(?!(?:the|of|is|at)\b)([^\W\d_]{1,40}+)[ :=]{1,3}+"
    rf"(?:(?:the|of|is|at least|at most) {{1,3}}+){{0,4}})?({_UNIT})? ?$",
    re.IGNORECASE,
)
_AFTER: Final = Pattern(
    rf"[ -]?({_UNIT})?(?: ?{_WORD})?(?: {_WORD}|(?: ?/ ?| {_PER} )([^\W\d_]+))?", re.IGNORECASE
)
_SYMBOLS: Final = {"%": "percent", "prozent": "percent", "€": "eur", "$": "usd", "£": "gbp"}
_NAMES: Final = {**_SYMBOLS, "euro": "eur", "dollar": "usd"}
_ENDS: Final = {"min": "least", "minimum": "least", "max": "most", "maximum": "most"}
"""What a word in a parameter's name says of its value."""
_MONEY: Final = frozenset(("eur", "usd", "gbp"))
_UNITS: Final = _MONEY | {"percent"}


@dataclass(frozen=True)
class Number:
    """A number of a text with the words directly beside it; no value if it cannot be read."""

    value: float | None
    beside: frozenset[str]
    before: frozenset[str] = frozenset()
    """The word before those: "unit" of "unit cost of 6 EUR"."""
    limit: str = ""
    """`least` or `most`, where it is a limit."""


def list_numbers(text: str) -> list[Number]:
    """Return the numbers of a text that appear in no quotation of code."""
    plain = Pattern(r"`[^`]*`").sub(" ; ", text)
    return [_read_number(plain, found) for found in _NUMBER.finditer(plain)]


def match_numbers(
    tool: str, parameters: Mapping[str, Schema], text: str
) -> dict[str, float | None]:
    """Return the numbers of a text by the parameter whose unit or word is beside them.

    The value is None where several numbers are a parameter's, one is another's too, or it cannot
    be read. A parameter without any number is left out.
    """
    numbers = list_numbers(text)
    fits = {name: _find_own(name, schema, numbers, tool) for name, schema in parameters.items()}
    for at, number in enumerate(numbers):
        owners = [name for name in fits if at in fits[name]]
        named = [name for name in owners if number.before & _list_words(name.replace("_", " "))]
        for name in owners if len(named) == 1 else ():
            if name not in named:
                del fits[name][at]
    matched = dict[str, float | None]()
    for name, own in fits.items():
        others = {at for other, each in fits.items() if other != name for at in each}
        is_sure = len(own) == 1 and others.isdisjoint(own)
        if own:
            matched[name] = next(iter(own.values())) if is_sure else None
    return matched


def _find_own(
    name: str, schema: Schema, numbers: Sequence[Number], tool: str
) -> dict[int, float | None]:
    """Return the numbers that may be a parameter's by index, without value if something is odd.

    An optional parameter needs a word of its own: its unit alone may be that of anything.
    """
    measured, _, each = name.replace("_", " ").partition(" per ")
    named = _list_words(measured) | _mark_rates(each)
    own = named | _list_words(f"{schema.get('title', '')} {schema.get('description', '')}")
    known = own | _list_words(tool.replace("_", " ")) | (set() if own & _MONEY else _MONEY)
    needed = named if each else named & _UNITS
    needs_word = "default" in schema and named - _UNITS - {"amount"}
    own |= _MONEY if "amount" in named else set()
    limits = {_ENDS[word] for word in name.split("_") if word in _ENDS}
    found = dict[int, float | None]()
    for at, number in enumerate(numbers):
        words = number.beside & own
        if number.limit and limits and number.limit not in limits:
            continue
        is_whole = schema.get("type") != "integer" or not (number.value or 0) % 1
        is_clear = number.beside <= known and is_whole
        if needed <= number.beside and (words - _UNITS or (words and is_clear and not needs_word)):
            found[at] = number.value if is_clear else None
    return found


def _read_number(text: str, found: re.Match[str]) -> Number:
    head, tail = text[max(0, found.start() - 80) : found.start()], text[found.end() :][:80]
    is_plain = _PLAIN.fullmatch(found.group()) and not _DENIED.search(head)
    limit, head = _read_limit(head)
    before, after = _BEFORE.search(head), _AFTER.match(tail)
    *units, each = after.groups("") if after else ("",)
    farther, *nearer = before.groups("") if before else ("",)
    words = _list_words(" ".join((*units, *nearer)))
    value = float(found.group().replace(",", "")) if is_plain else None
    beside = frozenset(words | _mark_rates(each))
    return Number(value, beside, frozenset(_list_words(farther)), limit)


def _read_limit(head: str) -> tuple[str, str]:
    """Return whether the words before a number set the `least` or the `most`, and their noun.

    "No trade below" sets the least, and is of "trade".
    """
    if not (found := _LIMIT.search(head)):
        return "", head
    denial, _, most = found.groups()
    noun = f"{head[: found.start(2)]}{head[found.end(2) :]}" if denial else head
    return "most" if bool(most) != bool(denial) else "least", noun


def _mark_rates(text: str) -> set[str]:
    """Return the words of which something is a rate: "/week" of "3 hours a week"."""
    return {f"/{word}" for word in _list_words(text)}


def _list_words(text: str) -> set[str]:
    """Return the content words of a text in their basic form, and its units by one name each."""
    words = [*extract_words(text), *(each for each in text.split() if each in _SYMBOLS)]
    return {_NAMES.get(word, word) for word in words if word not in FUNCTION_WORDS}
