"""Read the numbers of a question: comparisons, factors, and how many rows are asked for."""

from collections.abc import Sequence
from typing import Final

from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.question_cells import MarkedWords, parse_number_word
from extensions.tools.tables.question_words import (
    BUCKETS,
    LISTS,
    SIGNS,
    SMALL_NUMBERS,
    Token,
    split_name,
)
from extensions.tools.tables.reading import Condition
from nodes.text.similarity import find_near_name
from nodes.text.units import UNITS

MAX_GAP: Final = 2
"""Words between two words of one column's name, or a number and its column."""
MAX_LIMIT: Final = 50
_RANKS: Final = frozenset(("most", "least", "highest", "lowest", "fast"))


class ComparedWords(MarkedWords):
    """Words of a question with the columns that they name, and what these are compared with."""

    def __init__(self, profile: Profile, tokens: list[Token]) -> None:
        super().__init__(profile, tokens)
        self.columns: list[tuple[int, str]] = []
        """Named columns, each with the place of its first word."""

    def read_numbers(self) -> None:
        """Find comparisons with a number, factors such as per 1,000, and how many are asked for."""
        for at, token in enumerate(self.tokens):
            number = SMALL_NUMBERS.get(token.word) or parse_number_word(token.word)
            if token.role:
                continue
            if self.operation(at) == "none" and (none_of := self._find_next_number(at)):
                self._add_comparison(none_of, "=", 0, [at])
                continue
            if number is None:
                continue
            if self.operation(at - 1) == "per":
                self.found.per = int(number)
                token.role = "operation"
            elif not self._read_comparison(at, number):
                is_limit = number == int(number) and 0 < number <= MAX_LIMIT
                if is_limit and self._ranks_near(at):
                    self.found.limit, token.role = int(number), "operation"

    def _read_comparison(self, at: int, number: float) -> bool:
        """Compare the column that is named near a number, or has its unit, if there is one."""
        measured = find_measured(self.profile, self.word(at + 1))
        end = at + 1 + bool(measured)  # with its unit
        sign, start, stop = read_sign(self.tokens, at, end)
        column = self._find_column(at, end, MAX_GAP * (sign != "="))
        if not column and sign != "=" and len(measured) == 1:
            column = measured[0]
            self._name_compared(start, column)
        if column:
            others = measured and column not in measured
            is_alternative = sign != "=" and self._is_alternative(column, at)
            sign = "?" if others or is_alternative else sign
            stop += self.operation(stop) == "percent"  # its unit
            self._add_comparison(column, sign, number, range(start, stop))
        return bool(column)

    def _is_alternative(self, column: str, at: int) -> bool:
        """Return whether "or" is between a number and an earlier limit of the same column."""
        limits = [each.at for each in self.found.conditions if each.column == column]
        return any({"or", "oder"} & {*map(self.word, range(limit, at))} for limit in limits)

    def _name_compared(self, at: int, column: str) -> None:
        """Doubt a column that has the unit alone of what is compared: wider than 3 m, of length."""
        is_plain = self.word(at + 1) not in ("than", "als") or self.word(at) in LISTS["any size"]
        names = [" ".join(split_name(column)[:-1])]
        if not is_plain and find_near_name(self.word(at), names) is None:
            self.found.taken.append((self.word(at), column))

    def _add_comparison(self, column: str, sign: str, number: float, places: Sequence[int]) -> None:
        if sign == "?" or (self._is_unit(places[-1] + 1) and not self.role(places[-1] + 1)):
            self.found.doubt("comparison", words=" ".join(map(self.word, places)), column=column)
            self.found.is_of_others = True
            return
        self.take(places, "condition")
        self.columns = [each for each in self.columns if each[1] != column]
        sql = f"{self.profile.read(column)} {sign} {number}"
        words = f"{column} {sign} {number}"
        self.found.conditions.append(Condition(column, sql, words, places[0], is_value=sign == "="))

    def _is_unit(self, at: int) -> bool:
        """Return whether a word is a unit of a quantity; of times and shares it may be a noun."""
        dimension, _ = UNITS.get(self.word(at), ("", 0.0))
        return dimension not in ("", "%", "time", "months")

    def _find_next_number(self, at: int) -> str:
        """Return the column of numbers that is named right after a place; empty for none."""
        return next((n for n in self.profile.numbers if (at + 1, n) in self.columns), "")

    def _find_column(self, at: int, end: int, gap: int) -> str:
        """Return the named column of numbers that a number is about: after it, else before it."""
        known = {*self.profile.numbers, *self.profile.codes}
        numbers = [each for each in self.columns if each[1] in known]
        after = [each for each in numbers if 0 <= each[0] - end <= gap]
        before = [each for each in numbers if 0 < at - each[0] <= MAX_GAP + gap]
        near = sorted(after) or sorted(before, reverse=True)
        return near[0][1] if near else ""

    def _ranks_near(self, at: int) -> bool:
        is_after = self.word(at - 1) in LISTS["asking"] | {"top", "the", "die"}
        places = range(len(self.tokens)) if is_after else range(at - 2, at + 3)
        return not _RANKS.isdisjoint(map(self.operation, places))


def read_sign(tokens: Sequence[Token], at: int, end: int) -> tuple[str, int, int]:
    """Return the comparison with a number, `?` where it is not known, and the span of its words."""
    words = [token.word for token in tokens]
    before, earlier = (words[n] if n >= 0 else "" for n in (at - 1, at - 2))
    link, more = (*words[end : end + 2], "", "")[:2]
    if before in ("than", "als"):
        is_below = earlier in LISTS["below"]
        return (">" if earlier in LISTS["above"] else "<" if is_below else "?"), at - 2, end
    if earlier == "at" and before in ("least", "most"):
        return (">=" if before == "least" else "<="), at - 2, end
    if link in ("or", "oder") and more in LISTS["above"] | LISTS["below"]:
        return (">=" if more in LISTS["above"] else "<="), at, end + 2
    if before in SIGNS:
        return SIGNS[before], at - 1, end
    if before in LISTS["vague"]:
        return "?", at - 1, end
    is_compared = before in LISTS["above"] | LISTS["below"]
    return (">" if before in LISTS["above"] else "<" if is_compared else "="), at - is_compared, end


def find_measured(profile: Profile, unit: str) -> list[str]:
    """Return the columns of numbers whose names end in a unit: length_m for metres."""
    ends = {name: parts[-1] for name in profile.numbers if len(parts := split_name(name)) > 1}
    wanted = UNITS.get(unit)
    same = [name for name, end in ends.items() if wanted and UNITS.get(end) == wanted]
    return [name for name in same if ends[name] not in BUCKETS.values()]
