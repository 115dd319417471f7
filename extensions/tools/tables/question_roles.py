"""Find the role of each word of a question; a word without one is open, and not wholly read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from extensions.tools.sql.table_periods import YEAR, Period, read_period, write_condition
from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.question_amounts import find_measured
from extensions.tools.tables.question_cells import read_cells
from extensions.tools.tables.question_numbers import MAX_GAP, ComparedWords
from extensions.tools.tables.question_states import read_states, says_state
from extensions.tools.tables.question_words import (
    BUCKETS,
    GRAMMAR,
    LISTS,
    MIN_STEM_CHARS,
    OPERATIONS,
    SIGNS,
    Token,
    is_same_word,
    list_lemmas,
    split_name,
)
from nodes.text.units import UNITS
from nodes.text.word_lists import GERMAN_FUNCTION_WORDS

FINEST_FIRST: Final[tuple[str, ...]] = ("day", "month", "quarter", "year")


class QuestionRoles(ComparedWords):
    """The words of a part of a question, with their roles in a table."""

    _OPERATING: Final = frozenset((*OPERATIONS, *BUCKETS))

    def __init__(
        self, profile: Profile, tokens: list[Token], cells: Sequence[tuple[str, str]]
    ) -> None:
        """Find the roles of the words.

        Args:
            cells: columns of labels, each with a cell whose words the question may hold.
        """
        super().__init__(profile, tokens)
        self._ties = list[tuple[list[str], str]]()
        self.operations: dict[str, int] = {}
        """Operations, each with the place of its first word."""
        self._read_file_name()
        read_cells(self, cells)
        self._read_columns()
        self._read_rows_noun()
        self._read_periods()
        self.read_numbers()
        self._read_title()
        self._read_operations()
        read_states(self)

    def is_near(self, per: int, at: int) -> bool:
        """Return whether "per" is said of a word, as in "per 1,000 crossings".

        In "per month and crossings" it is not.
        """
        between = self.tokens[per + 1 : at]
        ends = {"and", "und", *BUCKETS}
        return not any(each.role == "column" or each.word in ends for each in between)

    def has_own_cell(self, at: int, name: str) -> bool:
        """Return whether a column's name is only said with one of its cells: Dream island.

        Or with one that it is not, and nothing is asked for each.
        """
        own = [each for each in self.found.conditions if each.column == name]
        values = [each for each in own if each.is_value]
        is_denied = bool(own) and not (values or self.is_asked_for(at))
        return len(values) == 1 or is_denied

    def is_whole(self, at: int, name: str) -> bool:
        """Return whether a share is asked of what a label names: of items, not on city bikes."""
        if not {"share", "percent"} & self.operations.keys() or self.is_asked_for(at):
            return False
        held = [each for each in self.found.conditions if not each.part]
        is_denied = any(each.column == name and not each.is_value for each in held)
        before = self.word(at - 1) if self.word(at - 1) not in ("the", "all") else self.word(at - 2)
        return is_denied or (bool(held) and before in ("of", "der", "von"))

    def is_amount(self, at: int) -> bool:
        """Return whether "most" is said of a noun, as in "most visits", not of "grew most"."""
        after = self.word(at + 1)
        before = self.word(at - 1 - (self.word(at - 1) in ("the", "am")))
        is_quality = before in LISTS["being"] or after.endswith("ly")  # is the most expensive
        return after[:1].isalnum() and after not in GRAMMAR and not is_quality

    def is_label_next(self, at: int) -> bool:
        """Return whether the first column that is named from a place on is one of labels."""
        named = sorted(each for each in self.columns if each[0] >= at)
        return bool(named) and named[0][1] in self.profile.labels

    def is_said_whole(self, name: str) -> bool:
        """Return whether all words of a column's name are in the question."""
        parts, words = split_name(name), [token.word for token in self.tokens]
        return all(any(is_same_word(word, part) for word in words) for part in parts)

    def find_only_measure(self) -> str:
        """Return the only column of values, if the table's name or "value" is said; else empty."""
        profile, named = self.profile, any(token.role == "title" for token in self.tokens)
        is_change = bool({"grow", "shrink", "change"} & self.operations.keys())
        words = {token.word for token in self.tokens}
        is_added = {"sum", "average"} & self.operations.keys()
        units = LISTS["units"] if is_added else frozenset()
        generic = [
            name
            for name in profile.numbers
            if {*split_name(name)} - units <= LISTS["generic values"]
            or {*split_name(name)} & LISTS["generic values"] & words
        ]
        if profile.melted or (is_change and len(profile.numbers) == 1):
            generic = profile.numbers[-1:]
        is_said = any({*split_name(name)} & LISTS["generic values"] & words for name in generic)
        is_only = is_change or (named and len(profile.numbers) == 1)
        return generic[0] if len(generic) == 1 and (is_only or is_said) else ""

    def _read_file_name(self) -> None:
        """Account for the file's name where it is written as it is."""
        written = [*self.profile.title]
        for at in range(len(self.tokens) - len(written) + 1):
            run = range(at, at + len(written))
            if len(written) > 1 and [self.word(each) for each in run] == written:
                self.take(run, "title")

    def _read_columns(self) -> None:
        """Find the columns that the open words name, those with most words first."""
        names = list(self.profile.columns)
        while True:
            fits = [(name, self._match_column(name)) for name in names]
            ranked = sorted(((self._rank(*each), *each) for each in fits if each[1]), reverse=True)
            if not ranked:
                self._take_other_words()
                self._doubt_ties()
                return
            rank, name, places = ranked[0]
            # A name of which only a part is said may be any other of which as much is said.
            most = 2 if rank[1] < 1 else len(rank)
            alike = [
                each[1:]
                for each in ranked
                if each[0][:most] == rank[:most] and {*each[2]} & {*places}
            ]
            if len(alike) > 1:
                alike.sort(key=lambda each: self.profile.columns.index(each[0]))
                name, places = self._break_tie(alike)
            self.take([*places, *self._list_years(name)], "column")
            self.columns.append((min(places), name))
            names = [each for each in names if each not in {name for _, name in self.columns}]

    def _take_other_words(self) -> None:
        """Take the words of a named column that are apart: which show sold the most tickets."""
        said = [token.word for token in self.tokens if token.role == "column"]
        parts = {part for _, name in self.columns for part in split_name(name)}
        parts = {part for part in parts if not any(self._is_named(word, part) for word in said)}
        for at, token in enumerate(self.tokens):
            is_open = not (token.role or token.word in GRAMMAR or token.word.isdigit())
            if is_open and any(self._is_named(token.word, part) for part in parts):
                self.take([at], "column")

    def _read_rows_noun(self) -> None:
        """Take a noun for the rows where a column's name says their kind: vehicles, vehicle_type.

        Not where it is asked which, or per which, it is.
        """
        for at, name in list(self.columns):
            *_, head = parts = split_name(name)
            is_name = head in LISTS["row names"] | LISTS["identifiers"]
            is_name |= name in self.profile.partly_empty and (
                head in GRAMMAR | GERMAN_FUNCTION_WORDS or says_state(self, at)
            )
            is_said = any(is_same_word(token.word, head) for token in self.tokens)
            is_kind = name in (*self.profile.labels, *self.profile.time_columns)
            is_ranked = self.operation(at - 1) in ("most", "least")
            is_other = is_name or is_said or is_ranked or self.is_asked_for(at)
            is_counted = is_ranked or self.word(at - 1) in ("many", "viele")
            is_rows = is_counted and self._is_of_title(at) and not self.profile.differs_by_row(name)
            if (is_kind and parts[1:] and not is_other) or (is_kind and is_rows):
                self.columns.remove((at, name))
                self.tokens[at].role = "title"

    def _is_of_title(self, at: int) -> bool:
        """Return whether a word is in the table's name."""
        return any(is_same_word(self.word(at), part) for part in self.profile.title)

    def _list_years(self, name: str) -> list[int]:
        """Return the places of the open years that a column's name has: sold in 2024, sold_2024."""
        years = [part for part in split_name(name) if YEAR.fullmatch(part)]
        return [
            at for at, token in enumerate(self.tokens) if token.word in years and not token.role
        ]

    def _rank(self, name: str, places: Sequence[int]) -> tuple[float, ...]:
        parts = [part for part in split_name(name) if part not in LISTS["units"]] or [name]
        said = [self.word(at) for at in places]
        whole = sum(word in parts for word in said)  # Kunde, not Kundennummer
        return len(places), len(places) / len(parts), whole, name in self.profile.numbers

    def _match_column(self, name: str) -> list[int]:
        """Return the places of open words that name a column; empty if it is not named."""
        whole = list(split_name(name))
        if written := self._find_written(name, whole):
            return written
        words = [part for part in whole if not part.isdigit()]
        parts = [part for part in words if part not in LISTS["units"]] or words
        if "per" in whole[1:] and not self._names_any(whole[: whole.index("per")]):
            return []  # a week is no price per week
        runs, matched = list[list[int]]([[]]), set[str]()
        for at, token in enumerate(self.tokens):
            is_whole = token.word == name.lower() and len(name) > MAX_GAP
            is_whole = is_whole and self.word(at - 1) not in LISTS["speakers"]  # did I make
            is_grammar = token.word in GRAMMAR and not (is_whole or self.has_both(at, name))
            is_unit = token.word in UNITS.keys() - {name.lower()}
            is_unit = is_unit and self.word(at - 1)[:1].isdigit()  # 500 GB
            if self.word(at - 1) in ("who", "wer") and token.word not in parts:
                is_grammar |= any(list_lemmas(token.word) & {part} for part in parts)
            if token.role or is_grammar or is_unit or token.word.isdigit():
                continue
            if same := {part for part in parts if self._is_named(token.word, part)}:
                if runs[-1] and at - runs[-1][-1] > MAX_GAP:
                    runs.append([])
                runs[-1].append(at)
                matched |= same
        places = max(runs, key=len)
        is_operation = all(self.operation(at) or self.word(at) in BUCKETS for at in places)
        is_whole = matched == {*parts} and name in self.profile.numbers
        is_whole |= name in self.profile.weekdays
        return [] if is_operation and not is_whole else places

    def _names_any(self, parts: Sequence[str]) -> bool:
        """Return whether an open word is one of a column's words."""
        words = [token.word for token in self.tokens if not token.role]
        return any(self._is_named(word, part) for word in words for part in parts)

    def _is_named(self, word: str, part: str) -> bool:
        is_cut = len(word) < MIN_STEM_CHARS and part.startswith(word) and len(part) > 6
        is_other = is_cut or self.profile.is_of_rows(word, part)  # "pay" is no payload
        return is_same_word(word, part) and not is_other

    def _find_written(self, name: str, parts: Sequence[str]) -> list[int]:
        """Return the places of a name of several words that is written as it is."""
        for at in range(len(self.tokens) if len(parts) > 1 else 0):
            size = 1 if self.word(at) == name.lower() else len(parts)
            run = self.tokens[at : at + size]
            is_whole = size == 1 or [each.word for each in run] == parts
            if is_whole and not any(each.role for each in run):
                return list(range(at, at + size))
        return []

    def _break_tie(self, alike: Sequence[tuple[str, list[int]]]) -> tuple[str, list[int]]:
        """Return the column whose digits are years of the question; else the latest, in doubt."""
        years = [at for at, token in enumerate(self.tokens) if YEAR.fullmatch(token.word)]
        for name, places in alike:
            digits = [part for part in split_name(name) if part.isdigit()]
            named = [at for at in years if any(self.word(at).endswith(each) for each in digits)]
            if digits and len(named) >= len(digits) == len(years):
                return name, [*places, *named]
        answers, ends = self.profile.answers, LISTS["prepositions"] | {"date", "datum"}
        times = [n for n in self.profile.time_columns if not ends.isdisjoint(split_name(n))]
        states = times if self.word(0) in ("when", "wann") else answers
        fitting = [each for each in alike if each[0] in states]
        if len(fitting) == 1 and {name for name, _ in alike} <= {*times, *answers}:
            return fitting[0]  # when was it paid, and have they paid: paid_on, and is_paid
        asked = [
            each
            for each in alike
            if each[0] not in self.profile.numbers and self.is_asked_for(each[1][0])
        ]
        rows = [each for each in alike if self.profile.differs_by_row(each[0])]
        if rows and all(map(self._is_of_title, rows[0][1])):
            return rows[0]  # "orders" of orders.csv are its rows: order_no, not order_date
        chosen = asked[0] if asked else max(alike, key=lambda each: _read_year(each[0]))
        self._ties.append(([name for name, _ in alike], chosen[0]))
        return chosen

    def _doubt_ties(self) -> None:
        """Doubt the choice between columns, of which not all were named in the end."""
        named = {name for _, name in self.columns}
        for names, chosen in self._ties:
            if not {*names} <= named:
                self.found.doubt("fit_equally", names=", ".join(names[:4]), chosen=chosen)

    def _read_periods(self) -> None:
        """Find periods, and ranges of them."""
        at, times, single = 0, self.profile.times, list[tuple[int, Period]]()
        while at < len(self.tokens):
            is_known = bool(self.role(at)) or self.is_compared(at)
            is_known |= bool(find_measured(self.profile, self.word(at + 1)))  # 2000 kg
            period, used = (Period(), 0) if is_known else read_period(self.tokens, at)
            end, last, more = at + used, Period(), 0
            before = at - 1 - (self.word(at - 1) in ("dem", "den", "the"))
            sign = SIGNS.get(self.word(before), "=")
            if used and self.word(end) in LISTS["range links"]:
                last, more = read_period(self.tokens, end + 1)
            if more and self.word(before) in ("from", "between", "von", "zwischen", "in"):
                sign, end = "to", end + 1 + more
                year = period.year or last.year
                period, last = replace(period, year=year), replace(last, year=last.year or year)
            if used and (found := write_condition(times, period, last, sign, at)):
                is_open = sign not in ("to", "=") and not period.year
                if is_open and self.profile.spans.get("year", 1) > 1:
                    self.found.doubt("which_year", period=period)  # since December
                    self.found.is_of_others = True
                else:
                    self.found.conditions.append(found)
                if sign == "to":
                    self.found.ends = [period.write(times), last.write(times)]
                elif sign == "=":
                    single.append((len(self.found.conditions) - 1, period))
                self.take(range(max(0, before if sign in SIGNS.values() else at), end), "period")
            at = max(end, at + 1) if used else at + 1
        self._add_year(single)

    def _add_year(self, single: Sequence[tuple[int, Period]]) -> None:
        """Add the only year of several periods to the others: Q1 and Q2 of 2025.

        Args:
            single: the place of each one's condition, and the period.
        """
        conditions, years = self.found.conditions, {each.year for _, each in single if each.year}
        for place, period in single if len(years) == 1 else ():
            whole, at = replace(period, year=max(years)), conditions[place].at
            found = write_condition(self.profile.times, whole, Period(), "=", at)
            conditions[place] = found or conditions[place]

    def _read_title(self) -> None:
        """Account for the words of the file's name, and for units of the named columns."""
        names = [name for _, name in self.columns]
        parts = {part for name in names or self.profile.numbers for part in split_name(name)}
        for token in self.tokens:
            if token.role or token.word in self._OPERATING:
                continue
            is_rate = token.word in ("rate", "quote") and (
                self.profile.melted in names or self.find_only_measure()
            )
            if is_rate or any(is_same_word(token.word, part) for part in self.profile.title):
                token.role = "title"
            elif token.word in (LISTS["units"] & parts) - GRAMMAR:
                token.role = "unit"

    def _read_operations(self) -> None:
        """Find the words that ask for an operation, and superlatives that name their measure."""
        for at, token in enumerate(self.tokens):
            if token.role:
                continue
            operation = OPERATIONS.get(token.word, "")
            if operation and operation not in ("not", "none"):
                self.operations.setdefault(operation, at)
                token.role = "operation"
            elif token.word in BUCKETS and self.profile.times.write_bucket(BUCKETS[token.word]):
                self._read_bucket(at, BUCKETS[token.word])

    def _read_bucket(self, at: int, bucket: str) -> None:
        token, before = self.tokens[at], self.word(at - 1)
        if before in ("over", "on") and BUCKETS.get(self.word(at - 2)) == bucket:
            self.found.compared = bucket
            self.operations.setdefault("grow", at)
            self.tokens[at - 2].role = ""
            self.take([at - 2, at - 1, at], "operation")
            self.found.by_last = {self.word(at - 3), self.word(at - 4)} & LISTS["beside"] != set()
            return
        near = {each.role for each in self.tokens[max(0, at - 2) : at + 2]}
        if self.is_asked_for(at):
            finest = (n for n in FINEST_FIRST if n in (bucket, self.found.bucket))
            self.found.bucket, token.role = next(finest), "operation"
        elif before in ("many", "viele"):
            self.found.counted, token.role = bucket, "thing"
        elif "period" in near:
            token.role = "period"

    def is_span(self, at: int) -> bool:
        """Return whether a word is the time over which a change is measured: over the year."""
        is_over = self.found.change and "over" in (self.word(at - 1), self.word(at - 2))
        return bool(is_over) and self.profile.spans.get(BUCKETS.get(self.word(at), "")) == 2


def _read_year(name: str) -> int:
    """Return the year in a column's name; 0 for none."""
    return max((int(part) for part in split_name(name) if YEAR.fullmatch(part)), default=0)
