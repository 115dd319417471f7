"""Typed arguments that ask something of a table, and how they are read.

They replace what a question's words say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from extensions.tools.sql.table_columns import Query, find_compared
from extensions.tools.sql.table_profile import Profile
from extensions.tools.sql.tables import quote_name, write_literal
from extensions.tools.tables.reading import Condition, Reading
from nodes.errors import ToolRefused

Aggregate = Literal["none", "sum", "average", "count", "minimum", "maximum"]
Change = Literal["none", "growth", "difference"]
SortKey = Literal["value", "fastest"]
Order = Literal["highest", "lowest"]
Period = Literal["as_given", "year", "quarter", "month"]
Language = Literal["en", "de"]
Doubles = Literal["count", "drop"]


@dataclass(frozen=True)
class Question:
    """What to compute over a table."""

    measures: Sequence[str] = ()
    aggregate: Aggregate = "none"
    divide_by: str = ""
    group_by: str = ""
    rows_with: Sequence[str] = ()
    change: Change = "none"
    time_column: str = ""
    period: Period = "as_given"
    sort_by: SortKey = "value"
    order: Order = "highest"
    limit: int = 20
    doubles: Doubles = "count"
    where: Sequence[str] = ()
    """Conditions on numbers and periods: `trips > 1000`, `2025-01 to 2025-03`."""
    per: int = 1
    """With `divide_by`: the number of its units that the ratio is for."""
    share: bool = False
    """Each value as a share of all, in percent; of the rows that `rows_with` names."""
    question: str = ""
    """The user's words, from which is read what the rest leaves open."""
    after: str = ""
    """Earlier questions, which say what the words are about, as with "it"."""
    language: Language = "en"

    @property
    def names_nothing(self) -> bool:
        """Whether no column of numbers and no row is named."""
        return not (self.measures or self.rows_with)

    @property
    def is_words_only(self) -> bool:
        """Whether no typed argument says what to compute."""
        others = {"language": Question.language, "doubles": Question.doubles}
        own = {"question": "", "after": "", **others}
        given = {**vars(self), **own}
        return all((given[name] or usual) == usual for name, usual in vars(Question()).items())

    @property
    def is_read(self) -> bool:
        """Whether words are to be read against the table, or what only their reading computes."""
        is_bucket = self.period in ("quarter", "month")
        is_new = self.where or self.per > 1 or self.share or self.change == "difference"
        return bool(self.question or is_new or is_bucket)


MAX_LABELS: Final = 4
MAX_MEASURES: Final = 3


def read_arguments(reading: Reading, profile: Profile, asked: Question, query: Query) -> list[str]:
    """Set what the arguments say; return a sentence for each value that no row holds.

    Raises:
        ToolRefused: there is no such column, it holds no numbers, or no row holds the values.
    """
    _read_columns(reading, profile, asked)
    if asked.aggregate != "none":
        reading.function = asked.aggregate
    elif reading.divisor:
        reading.function = "sum"
    reading.per = asked.per if asked.per > 1 else reading.per
    if not asked.is_read or asked.order == "lowest" or asked.limit != Question().limit:
        reading.order, reading.limit = asked.order, asked.limit
    if asked.is_read and asked.period != "as_given" and not reading.group:
        reading.bucket = asked.period
    missing = [] if asked.is_read else _read_rows(reading, profile, asked, query)
    if asked.change != "none":
        _read_change(reading, profile, asked)
    elif reading.function == "value" and not asked.is_read:
        _list_labels(reading, profile)
        if not reading.measures:
            reading.listed = profile.columns
    return missing


def _read_columns(reading: Reading, profile: Profile, asked: Question) -> None:
    columns = profile.columns
    named = [_find_column(name, columns) for name in asked.measures]
    is_computed = asked.aggregate not in ("none", "count") or asked.change == "growth"
    if is_computed and not (named or asked.is_read):
        named = profile.numbers[:MAX_MEASURES]
    if asked.divide_by:
        divisor = _find_column(asked.divide_by, profile.numbers)
        others = [name for name in named if name != divisor]
        reading.divisor, named = (divisor, others) if others or asked.is_read else ("", [divisor])
    for name in named if asked.aggregate != "count" else ():
        if name not in (*profile.numbers, *profile.codes):
            known = ", ".join(profile.numbers) or "none"
            why = profile.table.marred.get(name) or f"column {name!r} holds no numbers"
            raise ToolRefused(f"{why}; columns that hold numbers: {known}")
    if named:
        reading.measure, *reading.others = named
    if asked.group_by:
        reading.group = _find_column(asked.group_by, columns)


def _read_change(reading: Reading, profile: Profile, asked: Question) -> None:
    """Choose two columns, or the column of the periods, that are compared."""
    reading.change = "percent" if asked.is_read else "growth"
    if asked.change == "difference":
        reading.change = "amount"
    reading.by_last = asked.sort_by == "value" and asked.change == "growth"
    times = profile.table.times
    if asked.is_read and len(reading.measures) > 1:
        reading.second, reading.others = reading.others[0], []
    elif asked.time_column or (times and not asked.is_read):
        column = _find_column(asked.time_column or times[0], profile.columns)
        whole = quote_name(column)
        reading.time = f"SUBSTR(CAST({whole} AS VARCHAR(40)), 1, 4)"
        reading.time = reading.time if asked.period == "year" else whole
        reading.group = reading.group or next(iter(profile.labels), "")
        if not reading.measure:
            raise ToolRefused("the table has no column of numbers")
    elif not asked.is_read:
        compared = find_compared(reading.measures, profile.numbers)
        if not compared:
            raise ToolRefused(
                "the table has no column of years, quarters, months or dates; name two columns of "
                "numbers to compare"
            )
        (reading.measure, reading.second), reading.others = compared, []
        _list_labels(reading, profile)


def _list_labels(reading: Reading, profile: Profile) -> None:
    labels = [*filter(None, [reading.group]), *profile.labels][:MAX_LABELS]
    times = [] if reading.second else profile.table.times
    reading.group, reading.listed = "", list(dict.fromkeys([*labels, *times]))
    reading.listed = [name for name in reading.listed if name not in reading.measures]


def _read_rows(reading: Reading, profile: Profile, asked: Question, query: Query) -> list[str]:
    """Add a condition for each value that rows hold; return sentences on the others."""
    searched, missing = [*profile.labels, *profile.time_columns], list[str]()
    before = len(reading.conditions)
    for value in asked.rows_with:
        fits = (_match_value(profile, each, value, query) for each in searched)
        if found := next(filter(None, fits), None):
            reading.conditions.append(found)
        else:
            missing.append(value)
    if missing and len(reading.conditions) == before:
        known = ", ".join(searched)
        raise ToolRefused(f"no row holds {', '.join(map(repr, missing))} in {known}")
    return [f"No row of {profile.table.source} holds {value!r}." for value in missing]


def _match_value(profile: Profile, column: str, value: str, query: Query) -> Condition | None:
    text = f"LOWER(CAST({quote_name(column)} AS VARCHAR(400)))"
    exact = f"{text} = {write_literal(value.lower())}"
    begins = f"{text} LIKE {write_literal(value.lower() + '%')}"
    for sql in (exact, begins) if column in profile.time_columns else (exact,):
        if query(f"SELECT COUNT(*) FROM {profile.rows_of} WHERE {sql}")["rows"][0][0]:
            return Condition(column, sql, f"{column} = {value}")
    return None


def _find_column(name: str, columns: Sequence[str]) -> str:
    plain = name.strip().lower()
    for column in columns:
        if column.lower() == plain:
            return column
    raise ToolRefused(f"no column is named {name!r}; columns: {', '.join(columns)}")
