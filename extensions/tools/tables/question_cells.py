"""Find the cells of a table and the numbers that a question says, as conditions on its rows."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from extensions.tools.sql.table_profile import Profile
from extensions.tools.sql.tables import quote_name, write_literal
from extensions.tools.tables.question_words import (
    BUCKETS,
    GRAMMAR,
    LISTS,
    OPERATIONS,
    OTHER_NAMES,
    Token,
    is_cell_word,
    is_same_word,
    split_name,
    split_question,
)
from extensions.tools.tables.reading import Condition, Reading
from nodes.limits.patterns import Pattern

_DECIMAL_COMMA: Final = Pattern(r"\d{1,15},\d{1,2}")
_GERMAN_THOUSANDS: Final = Pattern(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")


MAX_DENIED_WORDS: Final = 4
"""From a denied cell to one that is denied with it."""


class MarkedWords:
    """Words, and what has been read from them."""

    def __init__(self, profile: Profile, tokens: list[Token]) -> None:
        self.profile, self.tokens, self.found = profile, tokens, Reading()
        for token in tokens:
            token.role = "mark" if token.text in "?;,()" else ""

    def word(self, at: int) -> str:
        """Return the word at a place in lower case; empty outside the question."""
        return self.tokens[at].word if 0 <= at < len(self.tokens) else ""

    def role(self, at: int) -> str:
        """Return the role of the word at a place; empty for none."""
        return self.tokens[at].role if 0 <= at < len(self.tokens) else ""

    def operation(self, at: int) -> str:
        """Return the operation that the word at a place asks for; empty for none."""
        if self.word(at) == "noch" and all(token.word != "weder" for token in self.tokens[:at]):
            return ""  # still
        return OPERATIONS.get(self.word(at), "")

    def take(self, places: Sequence[int], role: str) -> None:
        """Set the role of the words at these places that have none."""
        for at in places:
            self.tokens[at].role = self.tokens[at].role or role

    def has_both(self, at: int, name: str) -> bool:
        """Return whether a word and the one beside it name a column: atomic mass."""
        parts = [part for part in split_name(name) if part not in LISTS["units"]]
        near = [self.word(at), self.word(at + 1)], [self.word(at - 1), self.word(at)]
        return len(parts) > 1 and any(
            all(word and any(is_same_word(word, part) for part in parts) for word in pair)
            for pair in near
        )

    def is_asked_for(self, at: int) -> bool:
        """Return whether the word at a place is what is asked for: which city, by shop and city."""
        if self.word(at - 1) in ("and", "und") and self.tokens[at - 2].role == "column":
            return self.is_asked_for(at - 2)
        if self.word(at - 2) in LISTS["listing"] and self.word(at) in BUCKETS:
            return True  # top 2 months, rank the months
        for place in (at - 1, at - 2):
            if self.word(place) in ("many", "much", "viele"):
                return False
            if self.word(place) in LISTS["asking"] or self.operation(place) in ("each", "per"):
                return True
            if place >= 0 and self.tokens[place].role not in ("", "operation"):
                return False
        return False

    def are_listed(self, places: Sequence[int]) -> bool:
        """Return whether a comma or a word such as "and" is between places, and nothing else."""
        links = LISTS["links"] | {","}
        spans = [self.tokens[one:other] for one, other in pairwise(places)]
        return all(
            any(token.word in links for token in span)
            and all(token.role in ("column", "operation") or token.word in links for token in span)
            for span in spans
        )

    def are_one_noun(self, places: Sequence[int]) -> bool:
        """Return whether nothing is between the words of columns, as in "fuel cost"."""
        spans = [self.tokens[one:other] for one, other in pairwise(places)]
        return all(token.role == "column" for span in spans for token in span)

    def take_negation(self, at: int, distance: int) -> bool:
        """Return whether a word before a place denies what is there."""
        start = max([0, at - distance, *(n + 1 for n in range(at) if self.word(n) == "?")])
        links = [n for n in range(start, at) if self.word(n) in LISTS["prepositions"]]
        link = max(links, default=-1)  # not sent by UPS
        start = max([start, *(n for n in range(start, at) if n > link and self._is_verb(n))])
        nones = range(start if distance < 3 else at - 1, at)  # "no" is beside what it denies
        places = [
            n
            for n in range(start, at)
            if self.operation(n) == "not" or (n in nones and self.operation(n) == "none")
        ]
        self.take(places, "condition")
        return bool(places)

    def _is_verb(self, at: int) -> bool:
        """Return whether a word is what a column of times, or of who does it, is named after.

        A "not" before it denies that: not returned the spade.
        """
        word, profile = self.word(at), self.profile
        times = {part for name in profile.time_columns for part in split_name(name)}
        doers = {part for name in profile.labels for part in split_name(name)} - {word}
        parts = times | {part for part in doers if part.endswith(("er", "or"))}
        return word not in GRAMMAR and any(is_same_word(word, part) for part in parts)


def parse_number_word(word: str) -> float | None:
    """Return the number that a word writes in digits; None for another word."""
    if not word[:1].isdigit() or _GERMAN_THOUSANDS.fullmatch(word):
        return None  # 1.000 is one or a thousand
    has_comma = _DECIMAL_COMMA.fullmatch(word)
    try:
        number = float(word.replace(",", "." if has_comma else ""))
    except ValueError:
        return None
    return int(number) if number is not None and number == int(number) else number


def read_cells(words: MarkedWords, cells: Sequence[tuple[str, str]]) -> None:
    """Find the longest spans that are cells of a column of labels."""
    spans = _list_spans(words, cells)
    named = {each: _is_beside_name(words, *each[:3]) for each in spans}
    for span in sorted(spans, key=lambda each: (*each[:2], not named[each], *each[2:])):
        size, start, column, cell = span
        places = range(start, start - size)
        is_open = not any(words.tokens[at].role for at in places)
        is_bare = len(places) == 1 and _is_bare_number(words, start, column)
        if not is_open or is_bare or (len(places) == 1 and _is_common(words, start, cell)):
            continue
        words.take(places, "cell")
        if words.word(start - 1) == "(" and words.word(start - size) == ")" and start > 1:
            words.take([start - 2], "cell")  # a cell in brackets after its name: Texas (TX)
        _add_cell(words, column, cell, start)
        others = {each[2] for each in spans if each[:2] == (size, start)} - {column}
        if others and not named[span]:
            words.found.doubt("in_two", cell=cell, column=column, other=min(others))
            words.found.is_of_others = True


def _list_spans(
    words: MarkedWords, cells: Sequence[tuple[str, str]]
) -> list[tuple[int, int, str, str]]:
    """Return where cells are said: minus the words, the first place, the column, the cell."""
    heard = [token.word for token in words.tokens]
    return [
        (-len(parts), start, column, cell)
        for column, cell in cells
        for parts in {tuple(token.word for token in split_question(cell)), split_name(cell)}
        for start in range(len(heard) - len(parts) + 1)
        if parts and all(map(is_cell_word, parts, heard[start : start + len(parts)]))
    ]


def _is_beside_name(words: MarkedWords, size: int, start: int, column: str) -> bool:
    """Return whether the name of a cell's column is said beside the cell."""
    near = [words.word(at) for at in (start - 2, start - 1, start - size)]
    return any(is_same_word(word, part) for word in near if word for part in split_name(column))


def _is_bare_number(words: MarkedWords, at: int, column: str) -> bool:
    """Return whether a word is a number that is not beside the name of its column."""
    near = [words.word(place) for place in (at - 2, at - 1, at + 1)]
    is_named = any(is_same_word(word, part) for word in near for part in split_name(column))
    return parse_number_word(words.word(at)) is not None and not is_named


def _is_common(words: MarkedWords, at: int, cell: str) -> bool:
    """Return whether a word is hardly meant as a cell: it is grammar, or names a column."""
    token, names = words.tokens[at], words.profile.columns
    if any(token.word == name.lower() for name in names):
        return True
    if token.word in GRAMMAR or token.word in OPERATIONS or token.word in BUCKETS:
        return token.text.islower() or at == 0
    if any(words.has_both(at, name) for name in names):
        return True
    is_inflected = cell.lower() not in (token.word, OTHER_NAMES.get(token.word))
    parts = [part for name in names for part in split_name(name)]
    is_name = is_inflected and any(is_same_word(token.word, part) for part in parts)
    if is_name and is_cell_word(cell.lower(), token.word):
        words.found.doubt("column_or_cell", word=token.text, cell=cell)
    return is_name


def _follows_denied(words: MarkedWords, column: str, at: int) -> bool:
    """Return whether an "or" joins a cell to a denied one of its column: not from A or B."""
    denied = [c.at for c in words.found.conditions if c.column == column and not c.is_value]
    between = [words.word(place) for place in range(max(denied, default=at), at)]
    return len(between) <= MAX_DENIED_WORDS and not {"or", "oder"}.isdisjoint(between)


def _add_cell(words: MarkedWords, column: str, cell: str, at: int) -> None:
    text = f"LOWER(TRIM(CAST({quote_name(column)} AS VARCHAR(400))))"
    sql = f"{text} = {write_literal(cell.strip().lower())}"
    if any(each.sql == sql for each in words.found.conditions):
        return
    negated = words.take_negation(at, 3) or _follows_denied(words, column, at)
    negated = negated and cell.strip().lower() not in LISTS["denials"]
    sign = "≠" if negated else "="
    words.found.conditions.append(
        Condition(
            column,
            f"NOT COALESCE({sql}, FALSE)" if negated else sql,
            f"{column} {sign} {cell}",
            at,
            is_value=not negated,
        )
    )
