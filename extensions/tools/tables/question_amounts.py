"""Read the amounts of a question: numbers with their scales and units, and how they compare."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.question_cells import MarkedWords, parse_number_word
from extensions.tools.tables.question_words import (
    BUCKETS,
    LISTS,
    SIGNS,
    SMALL_NUMBERS,
    Token,
    read_dimension,
    split_name,
)
from nodes.text.units import CURRENCIES, SCALES, UNITS

OR: Final = frozenset(("or", "oder"))
LINKS: Final = OR | {"and", "und"}
COMPARING: Final = LISTS["above"] | LISTS["below"] | SIGNS.keys() | {"of", "von"}
_RANGES: Final = (("between", "and"), ("zwischen", "und"), ("from", "to"), ("von", "bis"))
_ONE: Final = frozenset(("a", "an", "one", "ein", "eine", "einem", "einen", "einer"))


_POUNDS: Final = ("gbp", "lb")


@dataclass(frozen=True)
class Amount:
    """A number, or the two of a range, with its words."""

    number: float
    end: int
    """The place after its words."""
    second: float | None = None
    measured: dict[str, float] = field(default_factory=dict)
    """The columns with a unit of its kind, each with how many of it one unit is."""


class AmountWords(MarkedWords):
    """Words of a question with the amounts in them."""

    def read_amount(self, at: int) -> Amount | None:
        """Return the amount that begins at a place: 30k, 2 t, 70 square metres, an hour."""
        number, end = self._read_number(at)
        if number is None:
            return self._read_one(at)
        link = end + (self.word(end) in UNITS)  # between 5 m and 10 m
        is_range = (self.word(at - 1), self.word(link)) in _RANGES
        second, last = self._read_number(link + 1) if is_range else (None, end)
        if second is not None and self.word(end - 1) not in SCALES:
            number *= SCALES.get(self.word(last - 1), 1)  # between 30 and 40 thousand
        measured, last = self._read_unit(last if second is not None else end)
        return Amount(number, last, second, measured)

    def _read_number(self, at: int) -> tuple[float | None, int]:
        word = self.word(at)
        number = SMALL_NUMBERS.get(word) or parse_number_word(word)
        scale = SCALES.get(self.word(at + 1)) if number is not None else None
        if number is None or scale is None:
            return number, at + 1
        return number * scale, at + 2

    def _read_one(self, at: int) -> Amount | None:
        """Return one of a unit after a comparison: longer than an hour."""
        measured, end = self._read_unit(at + 1)
        is_compared = self.word(at - 1) in ("than", "als") or self.word(at - 1) in COMPARING
        is_one = self.word(at) in _ONE and is_compared and measured
        return Amount(1, end, None, measured) if is_one else None

    def _read_unit(self, at: int) -> tuple[dict[str, float], int]:
        """Return the columns with the unit at a place, and the place after it."""
        whole = f"{self.word(at)} {self.word(at + 1)}"
        size = 2 if whole in UNITS else 1
        measured = find_measured(self.profile, whole if size == 2 else self.word(at))
        return measured, at + size * bool(measured)


def read_sign(tokens: Sequence[Token], at: int, end: int) -> tuple[str, int, int]:
    """Return the comparison with a number, `?` where it is not known, and the span of its words."""
    words = [token.word for token in tokens]
    before, earlier = (words[n] if n >= 0 else "" for n in (at - 1, at - 2))
    link, more = (*words[end : end + 2], "", "")[:2]
    if (link, more) == ("or", "so"):
        return "?", at, end + 2
    if before in ("than", "als"):
        is_below = earlier in LISTS["below"]
        return (">" if earlier in LISTS["above"] else "<" if is_below else "?"), at - 2, end
    if earlier == "at" and before in ("least", "most"):
        return (">=" if before == "least" else "<="), at - 2, end
    if link in OR and more in LISTS["above"] | LISTS["below"]:
        return (">=" if more in LISTS["above"] else "<="), at, end + 2
    if (earlier, before) == ("up", "to"):
        return "<=", at - 2, end
    if before in SIGNS:
        return SIGNS[before], at - 1, end
    if before in LISTS["vague"]:
        return "?", at - 1, end
    is_compared = before in LISTS["above"] | LISTS["below"]
    return (">" if before in LISTS["above"] else "<" if is_compared else "="), at - is_compared, end


def find_measured(profile: Profile, unit: str) -> dict[str, float]:
    """Return the columns whose names end in a unit of a kind, each with how many one unit is.

    Of metres `length_m` has 1, `width_cm` 100. Pounds are money where the table has such a column.
    """
    known = {name: UNITS[end] for name in profile.numbers if (end := _read_end(name))}
    for meant in _POUNDS if unit in ("pound", "pounds") else (unit,):
        kind, factor = UNITS.get(meant, ("", 0.0))
        if found := {name: factor / own for name, (its, own) in known.items() if its == kind}:
            return found
    return {}


def list_only_of_dimension(profile: Profile) -> dict[str, str]:
    """Return the columns of a dimension that no other has, by unit or name; money is one."""
    units = {name: UNITS[end][0] for name in profile.numbers if (end := _read_end(name))}
    kinds = {name: "money" if kind in CURRENCIES else kind for name, kind in units.items()}
    for name in profile.numbers:  # cost, time_spent
        if named := next(filter(None, map(read_dimension, split_name(name))), ""):
            kinds.setdefault(name, named)
    return {kind: name for name, kind in kinds.items() if [*kinds.values()].count(kind) == 1}


def _read_end(column: str) -> str:
    """Return the unit at the end of a column's name; empty for none, and for a rate: km_h."""
    parts = split_name(column)
    ends = [(parts[:-2], "".join(parts[-2:])), (parts[:-1], parts[-1])]  # m2, and m
    return next(
        (
            end
            for before, end in ends
            if before
            and end in UNITS
            and end not in BUCKETS.values()
            and not (before[-1] in UNITS or before[-1] in ("per", "pro"))
        ),
        "",
    )
