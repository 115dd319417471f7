"""What is known of a table before a question to it is read: kinds of columns, counts, periods."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations
from math import prod
from pathlib import PurePath
from typing import Any, Final

from extensions.tools.sql.table_columns import SAMPLE_ROWS, AnalysedTable, Query
from extensions.tools.sql.table_periods import YEAR, Times, find_times, list_time_columns
from extensions.tools.sql.tables import quote_name, write_literal
from extensions.tools.tables.question_words import (
    LISTS,
    MONTHS,
    NO_NAMES,
    TOTAL_NAMES,
    Token,
    is_identifier,
    is_same_word,
    list_lemmas,
    split_name,
)
from nodes.limits.patterns import Pattern
from nodes.text.csv_table import split_sheet_name
from nodes.text.units import UNITS
from nodes.text.word_lists import DAYS

MAX_PROFILED_COLUMNS: Final = 60
_FEWEST_PERIODS: Final = 2
_YEAR_COLUMN: Final = Pattern(rf"X?{YEAR.pattern}")
"""R writes an X before a name that begins with a digit."""
_CROSSED: Final = 1.25
"""A table of combinations may lack some of them."""
_MAX_COMBINED: Final = 12


@dataclass
class Profile:
    """A table with the kinds of its columns."""

    table: AnalysedTable
    rows_of: str
    """SQL for what the rows are selected from."""
    columns: list[str]
    numbers: list[str]
    """Quantities."""
    codes: list[str]
    """Columns of numbers that mean no quantity."""
    labels: list[str]
    answers: dict[str, str]
    """Columns of yes and no, each with SQL for yes."""
    times: Times
    time_columns: list[str]
    rows: int = 0
    distinct: dict[str, int] = field(default_factory=dict)
    partly_empty: list[str] = field(default_factory=list)
    """Columns of labels and times that some rows have no value in."""
    totals: list[str] = field(default_factory=list)
    """SQL that leaves out rows that sum up others."""
    spans: dict[str, int] = field(default_factory=dict)
    """How many different years and quarters there are."""
    melted: str = ""
    """The column of values that has been made of columns of years or months."""
    is_crossed: bool = False
    """The rows are the combinations of some labels and periods, with figures of each."""
    samples: dict[str, list[Any]] = field(default_factory=dict)
    """Cells of the first rows, by column."""

    @property
    def title(self) -> tuple[str, ...]:
        """The words of the file's and sheet's name."""
        file, sheet = split_sheet_name(self.table.source)
        return split_name(f"{PurePath(file).stem} {sheet} {PurePath(file).suffix[1:]}")

    def read(self, name: str) -> str:
        """Return SQL for the number in a column."""
        return quote_name(name) if self.melted == name else self.table.read(name)

    @cached_property
    def identities(self) -> list[str]:
        """The columns of labels of which each row has another cell."""
        return [name for name in self.labels if self.differs_by_row(name)]

    @cached_property
    def weekdays(self) -> list[str]:
        """The columns of days of the week."""
        days = [name for name in self.labels if {*map(_fold, self.samples.get(name, ()))} <= DAYS]
        return [name for name in days if self.samples.get(name)]

    @property
    def when(self) -> list[str]:
        """The columns that say when: those of dates, else those of days of the week."""
        return self.time_columns or self.weekdays

    @property
    def frequency(self) -> str:
        """The column that says how many of what is counted a row counts for; empty for none."""
        named = [name for name in self.numbers if {*split_name(name)} <= LISTS["count names"]]
        return named[0] if len(named) == 1 else ""

    def prefer_times(self, tokens: Sequence[Token]) -> None:
        """Read periods from the columns whose whole names are in a question, before others."""
        said = [token.word for token in tokens]
        named = [
            name
            for name in self.time_columns
            if all(
                any(is_same_word(part, word) for word in said)
                for part in split_name(name)
                if part not in LISTS["prepositions"]
            )
        ]
        self.times = find_times(self.samples, named) if named else self.times

    def is_code(self, name: str) -> bool:
        """Return whether a column of labels tells the rows apart by a code, such as `player_id`."""
        return name in self.identities and is_identifier(name)

    @cached_property
    def row_name(self) -> str:
        """The column that names most rows in words, beside a code; empty for none."""
        codes = [name for name in self.identities if self.is_code(name)]
        words = [n for n in self.labels if not is_identifier(n)]
        best = max(words, key=lambda name: self.distinct.get(name, 0), default="")
        return best if codes and 2 * self.distinct.get(best, 0) >= self.rows else ""

    def has_rows_of(self, noun: str) -> bool:
        """Return whether each row may be one of the things that an unknown noun is for.

        Not where rows are combinations of labels and periods, nor where a column says what is in
        each row: its name is another noun.
        """
        periods = () if self.labels else self.time_columns
        if any(map(self.differs_by_row, periods)):
            return False
        first = self.identities[:1] if self.labels[:1] == self.identities[:1] else []
        said = [name for name in first if not {*split_name(name)} & LISTS["row names"]]
        is_said = any(is_same_word(noun, part) for name in said for part in split_name(name))
        return is_said or not (said or self.is_crossed)

    def names_rows(self, name: str) -> bool:
        """Return whether whole numbers may be what the rows are called, such as a line's.

        They are in the first column, or many of them are there again.
        """
        *_, head = split_name(name) or ("",)
        is_noun = head.isalpha() and head not in UNITS and list_lemmas(head) == {head}
        cells = [cell for cell in self.samples.get(name, ()) if cell is not None]
        is_key = name in self.columns[:1] or 2 * len({*cells}) <= len(cells)
        return is_noun and is_key and all(str(cell).isdigit() for cell in cells)

    def differs_by_row(self, name: str) -> bool:
        """Return whether each row has another cell in a column."""
        return self.distinct.get(name) == self.rows

    def is_of_rows(self, word: str, part: str) -> bool:
        """Return whether a word is the file's, no column's: delivery (deliveries, delivered)."""
        title = [lemma for each in self.title for lemma in list_lemmas(each)]
        return bool({*title} & list_lemmas(word)) and not list_lemmas(word) & list_lemmas(part)

    def has_empty_for_zero(self, name: str) -> bool:
        """Return whether the first rows have empty cells and no 0 in a column of numbers."""
        held = self.samples.get(name, ())
        return 0 not in held and len(held) < min(self.rows, SAMPLE_ROWS)

    def is_intensive(self, name: str, words: Set[str] = LISTS["intensive"]) -> bool:
        """Return whether a column's values are no amounts that could be added up."""
        held = self.title if name == self.melted else split_name(name)
        rate = held[held.index("per") + 1 :][:1] if "per" in held else ()
        is_rate = bool(rate) and UNITS.get(rate[0], ("",))[0] not in ("time", "months")
        return not words.isdisjoint(held) or is_rate


def write_filled(name: str) -> str:
    """Return SQL for whether a cell says something: it is not empty, nor "n/a" or "none"."""
    nothing = ", ".join(map(write_literal, sorted({*NO_NAMES, *LISTS["denials"]})))
    text = f"LOWER(TRIM(CAST({quote_name(name)} AS VARCHAR(400))))"
    return f"COALESCE({text}, '') NOT IN ({nothing})"


def _fold(cell: Any) -> str:
    return str(cell).strip().lower()


def build_profile(table: AnalysedTable, query: Query, *, drops_doubles: bool = False) -> Profile:
    """Return what a sampled table's columns are; columns of periods become rows."""
    rows_of, columns, samples = quote_name(table.name), table.columns, table.samples
    numbers, melted, kept = table.numbers, "", dict(samples)
    if periods := _list_period_columns(table):
        said = {part for name in table.columns for part in split_name(name)} | {"by", "per"}
        title = [word for word in split_name(PurePath(table.source).stem) if word.isalpha()]
        melted = "_".join(word for word in title if word not in said) or "value"
        rows_of, columns, kept, period = _melt(table, periods, melted)
        kept |= {melted: samples[periods[0]], period: [name.removeprefix("X") for name in periods]}
        numbers = [name for name in numbers if name not in samples.keys() - kept] + [melted]
    elif drops_doubles:
        rows_of = f"(SELECT DISTINCT * FROM {rows_of}) AS different"
    times = list_time_columns(kept)
    numbers = [name for name in numbers if name not in times]
    codes = [name for name in numbers if split_name(name)[-1:] and _is_code(name)]
    answers = {name: yes for name, cells in kept.items() if (yes := _write_yes(name, cells))}
    numbers = [name for name in numbers if name not in codes and name not in answers]
    labels = [name for name in columns if name not in (*numbers, *times, *codes, *answers)]
    found = Profile(
        table, rows_of, columns, numbers, codes, labels, answers, find_times(kept, ()), times
    )
    found.melted, found.samples = melted, kept
    _count(found, query)
    found.is_crossed = _is_crossed(found, query)
    return found


def build_plain_profile(table: AnalysedTable, *, drops_doubles: bool = False) -> Profile:
    """Return a sampled table's columns as they are, for arguments that name them."""
    name = quote_name(table.name)
    rows_of = f"(SELECT DISTINCT * FROM {name}) AS different" if drops_doubles else name
    codes, answers = list[str](), dict[str, str]()
    columns, numbers, labels = table.columns, table.numbers, table.labels
    return Profile(table, rows_of, columns, numbers, codes, labels, answers, Times(), table.times)


def _is_code(name: str) -> bool:
    *_, last = parts = split_name(name)
    return last in LISTS["identifiers"] or last.endswith("nummer") or "id" in parts


def _write_yes(name: str, cells: Sequence[Any]) -> str:
    """Return SQL for the yes of a column that holds yes and no, or 1 and 0; else empty."""
    held = {str(cell).strip().lower() for cell in cells}
    if len(held) != _FEWEST_PERIODS or not (held & LISTS["yes"] and held & LISTS["no"]):
        return ""
    yes = (held & LISTS["yes"]).pop()
    return f"LOWER(TRIM(CAST({quote_name(name)} AS VARCHAR(40)))) = {write_literal(yes)}"


def _list_period_columns(table: AnalysedTable) -> list[str]:
    """Return the columns of numbers whose names are years or months, if there are several."""
    for is_period in (_YEAR_COLUMN.fullmatch, lambda name: name.lower() in MONTHS):
        found = [name for name in table.numbers if is_period(name)]
        if len(found) >= _FEWEST_PERIODS:
            return found
    return []


def _melt(
    table: AnalysedTable, periods: Sequence[str], value: str
) -> tuple[str, list[str], dict[str, list[Any]], str]:
    """Return SQL with a row for each cell of columns of periods, its columns, their samples."""
    period = "month" if periods[0].lower() in MONTHS else "year"
    shape = [name for name in table.columns if name not in periods]
    others = [name for name in shape if period == "year" or name not in table.numbers]
    shown = ", ".join(map(quote_name, others))
    parts = " UNION ALL ".join(
        f"SELECT {shown}{', ' * bool(shown)}{write_literal(name.removeprefix('X'))} "
        f"AS {quote_name(period)}, "
        f"{table.read(name)} AS {quote_name(value)} FROM {quote_name(table.name)}"
        for name in periods
    )
    kept = {name: table.samples[name] for name in others}
    return f"({parts}) AS melted", [*others, period, value], kept, period


def _is_crossed(profile: Profile, query: Query) -> bool:
    counts = {**dict.fromkeys(profile.answers, 2), **profile.distinct}
    held = [*profile.labels, *profile.time_columns, *profile.answers]
    kinds = [name for name in held if 1 < counts.get(name, 0) < profile.rows][:_MAX_COMBINED]
    sets = chain(*(combinations(kinds, size) for size in range(2, 6)))
    sizes = ((prod(counts[name] for name in each), each) for each in sets)
    near = [each for size, each in sizes if profile.rows <= size <= _CROSSED * profile.rows]
    for names in near[:_MAX_COMBINED]:
        rows = (
            f"(SELECT DISTINCT {', '.join(map(quote_name, names))} FROM {profile.rows_of}) AS kinds"
        )
        if query(f"SELECT COUNT(*) FROM {rows}")["rows"][0][0] == profile.rows:
            return True
    return False


def _count(profile: Profile, query: Query) -> None:
    """Set the number of rows, of different cells in each column, and the rows of totals."""
    labels = profile.labels[:MAX_PROFILED_COLUMNS]
    named = ", ".join(map(write_literal, TOTAL_NAMES))
    is_total = [
        f"LOWER(TRIM(CAST({quote_name(name)} AS VARCHAR(400)))) IN ({named})" for name in labels
    ]
    keys = [*profile.codes, *filter(profile.names_rows, profile.numbers)]
    counted = [*labels, *profile.time_columns, *keys][:MAX_PROFILED_COLUMNS]
    values = [f"COUNT(DISTINCT {quote_name(name)})" for name in counted]
    held = [*labels, *profile.time_columns][:MAX_PROFILED_COLUMNS]
    filled = [f"COUNT(CASE WHEN {write_filled(name)} THEN 1 END)" for name in held]
    sums = [f"SUM(CASE WHEN {each} THEN 1 ELSE 0 END)" for each in is_total]
    buckets = [each for each in ("year", "quarter") if profile.times.write_bucket(each)]
    spans = [f"COUNT(DISTINCT {profile.times.write_bucket(each)})" for each in buckets]
    sql = (
        f"SELECT {', '.join(['COUNT(*)', *spans, *filled, *values, *sums])} FROM {profile.rows_of}"
    )
    profile.rows, *found = query(sql)["rows"][0]
    profile.spans = dict(zip(buckets, found, strict=False))
    counts = zip(held, found[len(buckets) :], strict=False)
    profile.partly_empty = [name for name, count in counts if 0 < count < profile.rows]
    found = found[len(buckets) + len(held) :]
    profile.distinct = dict(zip(counted, found, strict=False))
    totals = zip(labels, is_total, found[len(counted) :], strict=True)
    profile.totals = [
        f"({quote_name(name)} IS NULL OR NOT {each})"
        for name, each, count in totals
        if count and 2 * count < profile.rows
    ]
