"""What a question to a table was read to ask, and what was computed for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from extensions.tools.tables.doubts import Doubt

Function = Literal["value", "sum", "average", "minimum", "maximum", "count", "distinct"]


@dataclass(frozen=True)
class Condition:
    """What holds for the rows that count."""

    column: str
    sql: str
    words: str
    at: int = 0
    """The place of its first word in the question."""
    part: str = ""
    """Of a period its finest part: year, quarter, month or day."""
    is_value: bool = True
    """Others of its kind are alternatives; a comparison or a denial holds besides others."""
    is_shown: bool = False
    """Listed rows show the column: its cells are still different."""


@dataclass
class Reading:
    """What a part of a question asks to compute."""

    measure: str = ""
    others: list[str] = field(default_factory=list)
    """Further measures of typed arguments."""
    listed: list[str] = field(default_factory=list)
    """The columns that name a row; empty: those are chosen that tell rows apart."""
    named: list[str] = field(default_factory=list)
    """The columns that the words name, in their order; a listed row shows those."""
    asks_when: bool = False
    asks_who: bool = False
    parts: int = 1
    """How many things are asked for, as far as question words say it."""
    divisor: str = ""
    per: int = 1
    """How many of the divisor a ratio is for."""
    second: str = ""
    """The column that the measure is compared with."""
    function: Function = "value"
    group: str = ""
    bucket: str = ""
    """A group of years, quarters, months or days."""
    counted: str = ""
    """The years, quarters, months or days that are counted."""
    conditions: list[Condition] = field(default_factory=list)
    part: list[Condition] = field(default_factory=list)
    """Of a share: what its rows hold besides."""
    is_share: bool = False
    change: Literal["", "amount", "percent", "both", "growth"] = ""
    """Growth shows no difference besides the percentage."""
    by_last: bool = False
    """Growth is ranked by the last value."""
    compared: str = ""
    """The years, quarters or months of a growth year over year."""
    time: str = ""
    """SQL for the periods that are compared; empty: the finest that the table has."""
    ends: list[tuple[str, Any]] = field(default_factory=list)
    """The compared periods: SQL for the period of a row, and its value."""
    order: Literal["", "highest", "lowest"] = ""
    is_both: bool = False
    """The highest and the lowest are asked for."""
    limit: int = 1
    thing: str = ""
    """What was taken for the rows, or for a column that names them."""
    thing_column: str = ""
    is_guess: bool = False
    """Nothing in the table says that its rows are such things."""
    taken: list[tuple[str, str]] = field(default_factory=list)
    """Words that the table lacks, each with the column that was read instead; a gap."""
    meant: list[tuple[str, str]] = field(default_factory=list)
    """The same where no other column has a unit of that kind: "cheaper", of the only price."""
    unread: list[str] = field(default_factory=list)
    """Words that nothing was made of."""
    is_of_row: bool = False
    """The highest value of a group is that of one of its rows."""
    is_of_others: bool = False
    """A figure would be of other things: a name, or what is counted, is not read, or may be in two
    columns or tables."""
    doubts: list[Doubt] = field(default_factory=list)
    """What may be read in another way."""

    def doubt(self, kind: str, **values: object) -> None:
        """Add a doubt; its kinds and their values are those of `doubts.py`."""
        self.doubts.append(Doubt(kind, values))

    def doubt_others(self, done: str, names: Sequence[str]) -> None:
        """Add a doubt for each column that was named beside the one that is computed."""
        for name in names:
            self.doubt("only", done=done, other=name)

    def list_lacking(self) -> list[str]:
        """Return the words that the table lacks, also those that a column was read for."""
        guessed = [self.thing] if self.is_guess else []
        return list(dict.fromkeys([*self.unread, *(word for word, _ in self.taken), *guessed]))

    def uses(self, name: str) -> bool:
        """Return whether a column, or a cell, is computed, groups the rows, or chooses them."""
        held = [*self.measures, self.divisor, self.second, self.group]
        chosen = [*self.conditions, *self.part]
        return name in held or any(
            name in (each.column, each.words.partition("= ")[2]) for each in chosen
        )

    @property
    def measures(self) -> list[str]:
        """All columns that are computed."""
        return [self.measure, *self.others] if self.measure else []

    @property
    def has_period(self) -> bool:
        """Whether a condition names a period."""
        return any(each.part for each in self.conditions)


@dataclass
class Answered:
    """The rows computed for a reading: labels, then values."""

    asked: Reading
    columns: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    labels: int = 0
    """How many columns are labels."""
    rows_used: int = 0
    left_out: int = 0
    """Rows that fit and hold no number."""
    is_missing: bool = False
    """Nothing could be computed."""


def describe_conditions(conditions: Sequence[Condition], and_: str, or_: str) -> str:
    """Return conditions in words, those on one column as alternatives."""
    by_column = dict[str, list[Condition]]()
    for each in conditions:
        by_column.setdefault(each.column, []).append(each)
    return f" {and_} ".join(
        f" {or_ if each[0].is_value else and_} ".join(dict.fromkeys(one.words for one in each))
        for each in by_column.values()
    )
