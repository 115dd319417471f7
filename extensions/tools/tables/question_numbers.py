"""Read the numbers of a question: comparisons, factors, and how many rows are asked for."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.question_cells import MarkedWords, parse_number_word
from extensions.tools.tables.question_words import (
    BUCKETS,
    GRAMMAR,
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
OR: Final = frozenset(("or", "oder"))
LINKS: Final = OR | {"and", "und"}
COMPARING: Final = LISTS["above"] | LISTS["below"] | SIGNS.keys() | {"of", "von"}
OPPOSITES: Final = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}
_RANGES: Final = (("between", "and"), ("zwischen", "und"), ("from", "to"), ("von", "bis"))
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
            if token.role or self._read_average(at):
                continue
            is_none = self.operation(at) == "none" and self.word(at + 2) not in COMPARING
            if is_none and (none_of := self._find_next_number(at)):
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
        second, last = self._find_range_end(at)
        measured = find_measured(self.profile, self.word(last + 1))
        end = last + 1 + bool(measured)  # with its unit
        said = self._find_said(end, measured)  # 8 m long
        sign, start, stop = read_sign(self.tokens, at, end + bool(said))
        if second is not None:
            sign, start, stop = ">=", at - 1, end + bool(said)
        column = said or self._find_column((start, at, end), measured, MAX_GAP * (sign != "="))
        if not column and sign != "=" and measured:
            column = self._choose_measured(start, measured)
        if not column:
            return False
        joined = [name for name in self._list_joined(column, at) if name in measured]
        sign, start = self._deny(sign, start, is_range=second is not None)
        if self._is_unclear(at, sign, column, joined) or (measured and column not in measured):
            sign = "?"
        stop += self.operation(stop) == "percent"  # its unit
        for name in (column, *joined):
            factor = measured.get(name, 1)
            self._add_comparison(name, sign, number * factor, range(start, stop))
            if second is not None and sign != "?":
                self._add_comparison(name, "<=", second * factor, range(start, stop))
        return True

    def _read_average(self, at: int) -> bool:
        """Compare a column with its average: more sugar than average, above the average price."""
        before = at - 1 - (self.word(at - 1) in ("the", "dem", "den", "der"))
        is_than = self.word(before) in ("than", "als")
        places = range(before - 1, before - 2 - MAX_GAP, -1) if is_than else [before]
        compared = LISTS["above"] | LISTS["below"]
        start = next((place for place in places if self.word(place) in compared), -1)
        if self.operation(at) != "average" or start < 0:
            return False
        near = range(start - 2 * MAX_GAP, before if is_than else at + 2 + MAX_GAP)
        named = [
            (n, name) for n, name in self.columns if n in near and name in self.profile.numbers
        ]
        if len(named) != 1:
            return False
        ((place, column),) = named
        sign = ">" if self.word(start) in LISTS["above"] else "<"
        sign, first = self._deny(sign, start, is_range=False)
        self.take([n for n in range(first, at + 1) if n != place], "condition")
        self.columns = [each for each in self.columns if each[1] != column]
        value = self.profile.read(column)
        sql = f"{value} {sign} (SELECT AVG({value}) FROM {self.profile.rows_of})"
        words = f"{column} {sign} average"
        self.found.conditions.append(Condition(column, sql, words, start, is_value=False))
        return True

    def _find_range_end(self, at: int) -> tuple[float | None, int]:
        """Return the second number of a range, as of "between 8 and 10", and the last place."""
        is_range = (self.word(at - 1), self.word(at + 1)) in _RANGES
        second = parse_number_word(self.word(at + 2)) if is_range else None
        return second, at if second is None else at + 2

    def _deny(self, sign: str, start: int, *, is_range: bool) -> tuple[str, int]:
        """Return the opposite of a comparison that is denied, and where its words begin."""
        for place in range(start - 1, start - 2 - 2 * MAX_GAP, -1):
            denials = ("not", "none") if start - place <= MAX_GAP else ("not",)
            if self.operation(place) in denials and not self.role(place):
                return "?" if is_range else OPPOSITES.get(sign, "?"), place
            is_end = self.word(place) in LINKS or self.word(place) in ("all", "alle")
            if is_end or self.is_open(place) or self.role(place) not in ("", "column"):
                break
        return sign, start

    def is_open(self, at: int) -> bool:
        """Return whether nothing was made of the word at a place: the phone number of someone."""
        word = self.word(at)
        return bool(word) and not self.role(at) and word not in GRAMMAR

    def _is_unclear(self, at: int, sign: str, column: str, joined: Sequence[str]) -> bool:
        """Return whether "or" is between two limits of a column, or two columns of a limit."""
        limits = [each.at for each in self.found.conditions if each.column == column]
        named = [place for place, name in self.columns if name in joined]
        earlier = [*(limits if sign != "=" else ()), *named]
        return any(OR & {*map(self.word, range(place, at))} for place in earlier)

    def _find_said(self, at: int, measured: Mapping[str, float]) -> str:
        """Return the column that the word after a number and its unit means; empty for none."""
        named = [name for place, name in self.columns if place == at and name in measured]
        others = LISTS["above"] | LISTS["below"] | GRAMMAR - LISTS["degrees"]
        if named or self.role(at) or self.word(at) in others:
            return "".join(named[:1])
        return self._find_meant(at, measured)

    def _find_meant(self, at: int, measured: Mapping[str, float]) -> str:
        """Return the column that means much the same as a word: long, of length and beam."""
        names = [" ".join(split_name(column)[:-1]) for column in measured]
        near = find_near_name(self.word(at), names) if self.word(at).isalpha() else None
        return [*measured][near] if near is not None else ""

    def _choose_measured(self, at: int, measured: Mapping[str, float]) -> str:
        """Return the column with the unit that is compared; empty if it may be several."""
        is_plain = self.word(at + 1) not in ("than", "als") or self.word(at) in LISTS["any size"]
        if not is_plain and (meant := self._find_meant(at, measured)):
            return meant
        same = [name for name, factor in measured.items() if factor == 1] or [*measured]
        if len(same) != 1:
            return ""
        if not is_plain:
            self.found.taken.append((self.word(at), same[0]))
        return same[0]

    def _list_joined(self, column: str, at: int) -> list[str]:
        """Return the columns that share a limit: width, as in "a width and height over 1 m"."""
        before = sorted(each for each in self.columns if each[0] < at)
        found = list[str]()
        for one, other in reversed([*pairwise(before)]):
            between = [*map(self.word, range(one[0] + 1, other[0]))]
            is_joined = LINKS & {*between} and len(between) <= MAX_GAP
            if not is_joined or other[1] not in (column, *found):
                break
            found.append(one[1])
        return found

    def find_counted(self) -> int | None:
        """Return the place after "how many" or "number of"; None if nothing is counted."""
        word = self.word
        for at in range(len(self.tokens)):
            if word(at) in ("many", "viele") and word(at - 1) in ("how", "wie"):
                return at + 1
            is_number = (word(at), word(at + 1)) == ("number", "of")
            is_own = not self.is_open(at - 1)  # the phone number of someone is another
            if word(at) in ("count", "anzahl") or (is_number and is_own):
                return at + 1
        return None

    def list_compared(self, *, is_counted: bool) -> list[str]:
        """Return the columns of which several cells are named; one by one, unless "or" adds them.

        Args:
            is_counted: how many there are is asked, as of "how many easy or medium ones".
        """
        cells = [each for each in self.found.conditions if each.is_value]
        columns = [each.column for each in cells]
        repeated = [name for name in columns if columns.count(name) > 1]
        places = [each.at for each in cells if each.column in repeated]
        between = range(min(places, default=0), max(places, default=0))
        return [] if is_counted and OR & {*map(self.word, between)} else repeated

    def doubt_alternatives(self) -> None:
        """Doubt conditions on two columns that "or" joins: both are taken to hold."""
        held = sorted(self.found.conditions, key=lambda each: each.at)
        for one, other in pairwise(held):
            between = self.tokens[one.at : other.at]
            said = [each.word for each in between if not each.role and each.word in LINKS]
            if one.column != other.column and said and said[-1] in OR:
                self.found.doubt("either", one=one.words, other=other.words)
                self.found.is_of_others = True

    def _add_comparison(self, column: str, sign: str, number: float, places: Sequence[int]) -> None:
        if sign == "?" or (self._is_unit(places[-1] + 1) and not self.role(places[-1] + 1)):
            self.found.doubt("comparison", words=" ".join(map(self.word, places)), column=column)
            self.found.is_of_others = True
            return
        number = round(number, 9)
        number = int(number) if number == int(number) else number
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

    def _find_column(
        self, span: tuple[int, int, int], measured: Mapping[str, float], gap: int
    ) -> str:
        """Return the named column of numbers that a number is about.

        The one right before its comparison, as in "a price under 300"; else after it, or before it.

        Args:
            span: where the comparison and its number are, and where their words end.
            measured: columns with the number's unit; a column that is not beside it has it too.
        """
        start, at, end = span
        known = {*self.profile.numbers, *self.profile.codes}
        numbers = sorted(each for each in self.columns if each[1] in known)
        before = [each for each in numbers if 0 < at - each[0] <= MAX_GAP + gap]
        if before and start < at and self._is_beside(before[-1][0], start):
            return before[-1][1]
        near = [
            each
            for each in numbers
            if 0 <= each[0] - end <= gap and not LINKS & {*map(self.word, range(end, each[0]))}
        ]
        fitting = [
            name for _, name in [*near, *reversed(before)] if not measured or name in measured
        ]
        return "".join(fitting[:1])

    def _is_beside(self, at: int, end: int) -> bool:
        """Return whether only one column's name is between two places: a weight of."""
        between = range(at, end)
        is_name = all(self.role(n) == "column" or self.word(n) in ("of", "von") for n in between)
        return is_name and not any(at < place < end for place, _ in self.columns)

    def _ranks_near(self, at: int) -> bool:
        is_after = self.word(at - 1) in LISTS["asking"] | {"top", "the", "die"}
        places = range(len(self.tokens)) if is_after else range(at - 2, at + 3)
        return not _RANKS.isdisjoint(map(self.operation, places))


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

    Of metres `length_m` has 1, `width_cm` 100.
    """
    ends = {name: parts[-1] for name in profile.numbers if len(parts := split_name(name)) > 1}
    kind, factor = UNITS.get(unit, ("", 0.0))
    known = {name: UNITS[end] for name, end in ends.items() if end in UNITS}
    return {
        name: factor / own
        for name, (its, own) in known.items()
        if kind and its == kind and ends[name] not in BUCKETS.values()
    }
