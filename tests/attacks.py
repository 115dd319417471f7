"""Texts that make regular expressions slow: general ones, and ones made from a pattern itself."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

# The only parser of the syntax there is; `re` itself compiles with it.
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any, Final

from nodes.limits.patterns import LIMIT_S, Pattern, PatternTimeout

ATTACK_CHARS: Final = 100_000
COMMON: Final = (" ", "\n", "_", "-", ".", "(", "1", "a", "1.", "a ", "[](", "- a\n", "the ", "or ")
"""The units of the attacks that every pattern meets in the quick tests."""
_MARKS: Final = r"""
* # = | ~ / \ : , " ' ` [ { < () [] (a [a {a "a `a a_ a. a- a/ a: a, a= a@ a; &a http://
0 1, 1- 1: 0x $1 1% i I A é aA Aa 1a
"""
UNITS: Final = (
    *COMMON,
    *("\t", " \n", "\n\n", "1 ", "A ", "a\n", "1\n", "| a ", "and ", "no ", "A. ", "(a) ", "1. "),
    *("1.1 ", "<a "),
    *_MARKS.split(),
)
_FRACTION: Final = 8
"""This part of a text is tried first."""
_PLENTY: Final = 4
"""A repetition of this many at most is no risk."""
_SAMPLES: Final = 6
"""Texts tried for one repetition."""


def general_attacks(units: Iterable[str] = UNITS) -> Iterator[str]:
    """Yield texts of 100 kB that repeat a few characters."""
    for unit in units:
        yield _repeated("", unit)


def attacks_on(pattern: str, flags: re.RegexFlag) -> Iterator[str]:
    """Yield texts of 100 kB that repeat what a repetition in a pattern takes, then fail it."""
    for before, unit in sorted(set(_pumps(_parser.parse(pattern, flags), ""))):
        for start in sorted({"", before}):
            yield _repeated(start, unit)


def slowest_attack(pattern: Pattern, units: Iterable[str]) -> tuple[float, str, int]:
    """Return the seconds of the slowest search, how its text begins, and how many were made."""
    times = []
    for attack in _all_attacks(pattern, units):
        began = process_time()
        with suppress(PatternTimeout):
            pattern.findall(attack)
        times.append((process_time() - began, attack[:16]))
    return *max(times), len(times)


def list_stopped_attacks(pattern: Pattern, units: Iterable[str]) -> list[str]:
    """Return how the texts begin whose search the limit stops.

    An eighth of each text is searched first, and the whole where that took a fourth of what is
    enough: a time that grows with the square is 64 times as long, one that grows faster is seen.
    """
    stopped = []
    for attack in _all_attacks(pattern, units):
        began = process_time()
        try:
            pattern.findall(f"{attack[: ATTACK_CHARS // _FRACTION]}\0")
            if process_time() - began > LIMIT_S / _FRACTION**2 / 4:
                pattern.findall(attack)
        except PatternTimeout:
            stopped.append(attack[:16])
    return stopped


def _all_attacks(pattern: Pattern, units: Iterable[str]) -> set[str]:
    return {*general_attacks(units), *attacks_on(pattern.pattern, pattern.flags)}


def _repeated(start: str, unit: str) -> str:
    return f"{start}{unit * (ATTACK_CHARS // len(unit))}\0"


def _pumps(parts: Iterable[Any], before: str) -> Iterator[tuple[str, str]]:
    """Yield what leads to each repetition, and what it repeats."""
    for code, held in parts:
        if code in _REPEATS and held[1] > _PLENTY:
            yield from ((before, unit) for unit in islice(_samples(held[2]), _SAMPLES) if unit)
        for body in _bodies(code, held):
            yield from _pumps(body, before)
        before += next(_samples([(code, held)]), "")


_REPEATS: Final = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
_CLASSES: Final = {
    c.CATEGORY_DIGIT: "1",
    c.CATEGORY_NOT_DIGIT: "a",
    c.CATEGORY_SPACE: " ",
    c.CATEGORY_NOT_SPACE: "a",
    c.CATEGORY_WORD: "a",
    c.CATEGORY_NOT_WORD: "-",
}
_TRIED: Final = "a1 -_.A,:/(\n\"'"
"""Members tried of a class that says what it does not hold."""


def _bodies(code: Any, held: Any) -> list[Any]:
    """Return the patterns within a part of a pattern."""
    if code is c.BRANCH:
        return list(held[1])
    if code is c.GROUPREF_EXISTS:
        return [body for body in held[1:] if body]
    if code is c.ATOMIC_GROUP:
        return [held]
    return [held[-1]] if code in (*_REPEATS, c.SUBPATTERN, c.ASSERT, c.ASSERT_NOT) else []


def _samples(parts: Sequence[Any]) -> Iterator[str]:
    """Yield short texts that a pattern takes."""
    if not len(parts):
        yield ""
        return
    (code, held), *rest = parts
    for first in _samples_of(code, held):
        for behind in islice(_samples(rest), 2):
            yield first + behind


def _samples_of(code: Any, held: Any) -> Iterator[str]:
    if code in _REPEATS:
        least, most, body = held
        yield from (one * max(least, min(1, most)) for one in islice(_samples(body), 3))
    elif code is c.BRANCH:
        for body in held[1]:
            yield from islice(_samples(body), 1)
    elif code in (c.SUBPATTERN, c.ATOMIC_GROUP):
        yield from _samples(_bodies(code, held)[0])
    else:
        yield from _characters(code, held)


def _characters(code: Any, held: Any) -> Iterator[str]:
    if code is c.LITERAL:
        yield chr(held)
    elif code is c.NOT_LITERAL:
        yield from (char for char in "a " if char != chr(held))
    elif code is c.ANY:
        yield from "a1 "
    elif code is c.IN:
        yield from _members(held)
    else:
        yield ""


def _members(held: Sequence[Any]) -> Iterator[str]:
    if held[0][0] is c.NEGATE:
        taken = set(_members(held[1:]))
        yield from (char for char in _TRIED if char not in taken)
        return
    for code, value in held:
        if code is c.LITERAL:
            yield chr(value)
        elif code is c.RANGE:
            yield chr(value[0])
        elif code is c.CATEGORY:
            yield _CLASSES.get(value, "a")
