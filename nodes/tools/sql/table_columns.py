"""The tables that can be analysed, and what their columns hold: numbers, periods, names."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.numbers import is_marked_number
from nodes.text.periods import SORTABLE_PERIOD

_TIME_NAME: Final = Pattern(r"(?:^|_| )(?:year|quarter|month|week|day|date|period)(?:$|_| )")
_ID_NAME: Final = Pattern(r"(?:^|_| )id$")
_PLAIN: Final = Pattern(r"[-+]?[\d.,]+")
_DIGITS: Final = Pattern(r"\d+")
_YEARS: Final = range(1800, 2200)
_LARGEST_PERIOD: Final = 366
SAMPLE_ROWS: Final = 200

Query = Callable[[str], dict[str, Any]]


@dataclass
class AnalysedTable:
    """A table, with the columns that hold numbers and those that hold periods."""

    name: str
    source: str
    columns: list[str]
    numbers: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    marred: dict[str, str] = field(default_factory=dict)
    """Columns that are text because of some cells among their numbers, each with a sentence."""

    @property
    def labels(self) -> list[str]:
        """All other columns: names and ids."""
        return [name for name in self.columns if name not in (*self.numbers, *self.times)]


def rank_tables(
    tables: Sequence[AnalysedTable], name: str, columns: Iterable[str]
) -> list[AnalysedTable]:
    """Return the named table; without a name those that have most of the asked columns.

    Raises:
        ToolRefused: there is no table, or none of that name.
    """
    if not tables:
        raise ToolRefused("there is no table")
    plain = name.strip().lower()
    if plain:
        for each in tables:
            if plain in (
                each.name.lower(),
                each.source.lower(),
                each.source.lower().split("/")[-1],
            ):
                return [each]
        known = ", ".join(each.source for each in tables)
        raise ToolRefused(f"no table is named {name!r}; tables: {known}")
    wanted = {column.lower() for column in columns if column}
    fit = [(len(wanted & {column.lower() for column in each.columns}), each) for each in tables]
    best = max(count for count, _ in fit)
    return [each for count, each in fit if count == best]


def sample_columns(table: AnalysedTable, query: Query) -> AnalysedTable:
    """Return the table with its columns sorted by what they hold."""
    rows = query(f"SELECT * FROM {quote_name(table.name)} LIMIT {SAMPLE_ROWS}")["rows"]
    numbers, times, marred = [], [], dict[str, str]()
    for index, name in enumerate(table.columns):
        values = [row[index] for row in rows if row[index] is not None]
        if _is_time(name, values):
            times.append(name)
        elif values and all(map(_is_number, values)) and not _ID_NAME.search(name.lower()):
            numbers.append(name)
        elif place := _find_marring_row([row[index] for row in rows]):
            marred[name] = f"{name} is text: its row {place} holds {rows[place - 1][index]!r:.60}"
    return AnalysedTable(table.name, table.source, table.columns, numbers, times, marred)


def _find_marring_row(cells: Sequence[Any]) -> int:
    """Return the row, from 1, of the first cell that makes a column of numbers text.

    Such a cell has no digit, as `n/a`, or a sign beside its number. 0 if the column is something
    else: most cells have numbers, and no other cell has a digit.
    """
    held = {row: each for row, each in enumerate(cells, start=1) if each not in (None, "")}
    if not all(isinstance(each, str) for each in held.values()):
        return 0
    numbers = {row for row, each in held.items() if is_marked_number(each)}
    others = (each for row, each in held.items() if row not in numbers)
    if 2 * len(numbers) <= len(held) or any(map(_DIGITS.search, others)):
        return 0
    return next((row for row, each in held.items() if not _PLAIN.fullmatch(each.strip())), 0)


def find_compared(named: Sequence[str], numbers: Sequence[str]) -> tuple[str, str] | None:
    """Return the first and the last of the named columns, to compare; None without a second one.

    A single one is compared with the one before it among those that differ in digits only: `cap
    2024` with `cap 2023`.
    """
    if len(named) > 1:
        first, *_, last = sorted(named)
        return first, last
    for name in named:
        alike = sorted(each for each in numbers if _name_series(each) == _name_series(name))
        if before := [each for each in alike if each < name]:
            return before[-1], name
    return None


def _name_series(column: str) -> str:
    return _DIGITS.sub("0", column.lower())


def describe_table(table: AnalysedTable) -> dict[str, Any]:
    return {
        "table": table.name,
        "source": table.source,
        "columns": table.columns,
        "numbers": table.numbers,
        "times": table.times,
    }


def _is_time(name: str, values: Sequence[Any]) -> bool:
    """Return whether a column holds years, or is named after a period and holds no amounts."""
    if values and all(isinstance(value, int) and value in _YEARS for value in values):
        return True
    if any(isinstance(value, str) and not SORTABLE_PERIOD.fullmatch(value) for value in values):
        return False
    amounts = [
        value
        for value in values
        if _is_number(value) and (abs(value) > _LARGEST_PERIOD or value != int(value))
    ]
    return bool(_TIME_NAME.search(name.lower())) and not amounts


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def quote_name(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
