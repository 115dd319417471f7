"""Texts that make regular expressions slow: general ones, and ones made from a pattern itself."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

# The only parser of the syntax there is; `re` itself compiles with it.
from re import _constants, _parser  # type: ignore[attr-defined]

ATTACK_CHARS: Final = 100_000
_UNITS: Final = (
    *(" ", "\t", "\n", " \n", "\n\n", "_", "-", ".", "*", "#", "=", "|", "~", "/", "\\", ":", ","),
    *("(", "[", "{", "<", "()", "[]", "(a", "[a", "{a", "[](", '"', "'", "`", '"a', "`a"),
    *("0", "1", "1,", "1.", "1 ", "1-", "1:", "0x", "$1", "1%", "i", "I", "a", "A", "é", "a ", "A "),
    *("a_", "a.", "a-", "a/", "a:", "a,", "a=", "a@", "aA", "Aa", "1a", "a\n", "1\n", "| a ", "- a\n"),
    *("and ", "or ", "no ", "the ", "A. ", "(a) ", "1. ", "1.1 ", "a;", "http://", "<a ", "&a"),
)
_ENDS: Final = ("", "\0", "\n!")
_PLENTY: Final = 4
"""A repetition of this many at most is no risk."""


def general_attacks() -> Iterator[str]:
    """Yield texts of 100 kB that repeat one to four characters."""
    for unit in _UNITS:
        yield _repeated("", unit)


def attacks_on(pattern: str, flags: re.RegexFlag) -> Iterator[str]:
    """Yield texts of 100 kB that each repeat what one repetition of a pattern takes, then fail it."""
    parsed = _parser.parse(pattern, flags)
    for before, unit in sorted(set(_pumps(parsed, ""))):
        for start in sorted({"", before}):
            yield _repeated(start, unit)


def _repeated(start: str, unit: str) -> str:
    return f"{start}{unit * (ATTACK_CHARS // len(unit))}\0"


def _pumps(parts: Iterable[Any], before: str) -> Iterator[tuple[str, str]]:
    """Yield what leads to each repetition, and what it repeats."""
    for code, held in parts:
        if code in _REPEATS:
            _, most, body = held
            if most > _PLENTY:
                for unit in islice(_samples(body), 12):
                    if unit:
                        yield before, unit
            yield from _pumps(body, before)
        elif code is _constants.BRANCH:
            for body in held[1]:
                yield from _pumps(body, before)
        elif code in (_constants.SUBPATTERN, _constants.ATOMIC_GROUP):
            yield from _pumps(held[-1] if isinstance(held, tuple) else held, before)
        elif code in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from _pumps(held[1], before)
        before += next(_samples([(code, held)]), "")


_REPEATS: Final = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_CLASSES: Final = {
    _constants.CATEGORY_DIGIT: "1",
    _constants.CATEGORY_NOT_DIGIT: "a",
    _constants.CATEGORY_SPACE: " ",
    _constants.CATEGORY_NOT_SPACE: "a",
    _constants.CATEGORY_WORD: "a",
    _constants.CATEGORY_NOT_WORD: "-",
}
_COMMON: Final = "a1 -_.A,:/(\n\"'"


def _samples(parts: Sequence[Any]) -> Iterator[str]:
    """Yield short texts that a part of a pattern takes."""
    if not len(parts):
        yield ""
        return
    (code, held), *rest = parts
    for first in _samples_of(code, held):
        for behind in islice(_samples(rest), 2):
            yield first + behind


def _samples_of(code: Any, held: Any) -> Iterator[str]:
    if code is _constants.LITERAL:
        yield chr(held)
    elif code is _constants.NOT_LITERAL:
        yield from (char for char in "a " if char != chr(held))
    elif code is _constants.ANY:
        yield from "a1 "
    elif code is _constants.IN:
        yield from _members(held)
    elif code is _constants.BRANCH:
        for body in held[1]:
            yield from islice(_samples(body), 1)
    elif code in _REPEATS:
        least, most, body = held
        for one in islice(_samples(body), 3):
            yield one * max(least, min(1, most))
    elif code is _constants.SUBPATTERN:
        yield from _samples(held[-1])
    elif code is _constants.ATOMIC_GROUP:
        yield from _samples(held)
    else:
        yield ""


def _members(held: Sequence[Any]) -> Iterator[str]:
    if held[0][0] is _constants.NEGATE:
        taken = set(_members(held[1:]))
        yield from (char for char in _COMMON if char not in taken)
        return
    for code, value in held:
        if code is _constants.LITERAL:
            yield chr(value)
        elif code is _constants.RANGE:
            yield chr(value[0])
        elif code is _constants.CATEGORY:
            yield _CLASSES.get(value, "a")
