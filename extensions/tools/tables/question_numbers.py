"""Read the numbers of a question: comparisons, factors, and how many rows are asked for."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from extensions.tools.sql.table_profile import Profile
from extensions.tools.sql.tables import quote_name
from extensions.tools.tables.question_amounts import (
    COMPARING,
    LINKS,
    OR,
    Amount,
    AmountWords,
    read_sign,
)
from extensions.tools.tables.question_words import (
    BUCKETS,
    GRAMMAR,
    LISTS,
    Token,
    split_name,
)
from extensions.tools.tables.reading import Condition
from nodes.text.similarity import find_near_name
from nodes.text.units import UNITS

MAX_GAP: Final = 2
"""Words between two words of one column's name, or a number and its column."""
MAX_LIMIT: Final = 50
OPPOSITES: Final = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}
_RANKS: Final = frozenset(("most", "least", "highest", "lowest", "fast"))


class ComparedWords(AmountWords):
    """Words of a question with the columns that they name, and what these are compared with."""

    def __init__(self, profile: Profile, tokens: list[Token]) -> None:
        super().__init__(profile, tokens)
        self.columns: list[tuple[int, str]] = []
        """Named columns, each with the place of its first word."""

    def read_numbers(self) -> None:
        """Find comparisons with a number, factors such as per 1,000, and how many are asked for."""
        for at, token in enumerate(self.tokens):
            if token.role or self._read_average(at):
                continue
            amount = None if self._read_empty(at) else self.read_amount(at)
            if amount is None:
                continue
            number = amount.number
            if self.operation(at - 1) == "per":
                self.found.per = int(number)
                token.role = "operation"
            elif not self._read_comparison(at, amount):
                is_limit = number == int(number) and 0 < number <= MAX_LIMIT
                if is_limit and self._ranks_near(at):
                    self.found.limit, token.role = int(number), "operation"

    def is_compared(self, at: int) -> bool:
        """Return whether digits are an amount, no year: more than 2000, above 1500."""
        before = at - 1 - (self.word(at - 1) in ("than", "als"))
        return self.word(at).isdigit() and self.word(before) in LISTS["above"] | LISTS["below"]

    def _read_comparison(self, at: int, amount: Amount) -> bool:
        """Compare the column that is named near a number, or has its unit, if there is one."""
        measured, end, second = amount.measured, amount.end, amount.second
        said = self._find_said(end, measured)  # 8 m long
        sign, start, stop = read_sign(self.tokens, at, end + bool(said))
        if second is not None:
            sign, start, stop = ">=", at - 1, end + bool(said)
        column = said or self._find_column((start, at, end), measured, MAX_GAP * (sign != "="))
        if not column and sign != "=" and measured:
            column = self._choose_measured(start, measured, self.word(end - 1))
        if not column:
            return False
        joined = [name for name in self._list_joined(column, at) if name in measured]
        sign, start = self._deny(sign, start, is_range=second is not None)
        per = self.word(end + 1) if self.operation(end) == "per" else ""
        is_rate = per in UNITS.keys() - BUCKETS.keys()  # 10 EUR per kg
        is_other = bool(measured) and column not in measured
        if is_rate or is_other or self._is_unclear(at, sign, column, joined):
            sign = "?"
        stop += self.operation(stop) == "percent"  # its unit
        for name in (column, *joined):
            factor = measured.get(name, 1)
            self._add_comparison(name, sign, amount.number * factor, range(start, stop))
            if second is not None and sign != "?":
                self._add_comparison(name, "<=", second * factor, range(start, stop))
        return True

    def _read_empty(self, at: int) -> bool:
        """Read a column that has no value, as in "no waste figure", or 0, as in "no waste"."""
        is_none = self.operation(at) == "none"
        is_value = is_none and self.word(at + 2) in LISTS["generic values"]
        none_of = "" if is_value or not is_none else self._find_next_number(at)
        if none_of and self.word(at + 2) not in COMPARING:
            if self.profile.has_empty_for_zero(none_of):
                self.take([at], "condition")
                self._add_empty(none_of, at + 1)
            else:
                self._add_comparison(none_of, "=", 0, [at])
            return True
        is_absent = self.word(at) in LISTS["absent"]
        near = range(at - 1 - MAX_GAP, at + 2 + MAX_GAP) if is_absent else [at + 1] * is_value
        named = [each for each in self.columns if each[0] in near]
        if len(named) != 1:
            return False
        ((place, column),) = named
        self.take([at, at + 2] if is_value else [at], "condition")
        self._add_empty(column, place)
        return True

    def _add_empty(self, column: str, at: int) -> None:
        self.columns = [each for each in self.columns if each[1] != column]
        text = f"TRIM(CAST({quote_name(column)} AS VARCHAR(400)))"
        sql, words = f"COALESCE({text}, '') = ''", f"{column} is empty"
        self.found.conditions.append(Condition(column, sql, words, at, is_value=False))

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
        words = f"{column} {sign} average of all"
        self.found.conditions.append(Condition(column, sql, words, start, is_value=False))
        return True

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

    def _choose_measured(self, at: int, measured: Mapping[str, float], unit: str) -> str:
        """Return the column with the unit that is compared; empty if it may be several.

        One whose unit alone says that it is meant is named as a doubt where another could be.
        """
        is_plain = self.word(at + 1) not in ("than", "als") or self.word(at) in LISTS["any size"]
        if not is_plain and (meant := self._find_meant(at, measured)):
            return meant
        same = [name for name, factor in measured.items() if factor == 1] or [*measured]
        if len(same) != 1:
            return ""
        if not is_plain or min(measured.values()) < measured[same[0]]:  # 8000 m, or km
            taken = self.found.meant if len(measured) == 1 else self.found.taken
            taken.append((unit if is_plain else self.word(at), same[0]))
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
