"""The tables that can be analysed, and what their columns hold: numbers, periods, names."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from extensions.tools.sql.location import Engine
from extensions.tools.sql.numbers import count_forms, read_amounts
from extensions.tools.sql.tables import quote_name
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern

_TIME_NAME: Final = Pattern(r"(?:^|_| )(?:year|quarter|month|week|day|date|period)(?:$|_| )")
_RATE_NAME: Final = Pattern(r"(?:^|_| )per(?:_| )")
_SORTABLE_PERIOD: Final = Pattern(
    r"\d{4}(?:\D.*)?|\d{8}|\d{1,3}|[A-Za-z]{1,2}-?\d{1,2}|\d{1,2}:\d{2}.*"
)
"""Names of periods whose order as texts is their order in time: 2024, 2024-03-01, 2024-Q1, 7, Q1,
W07, 12:30; not March, Q1 2024 or 31.12.2024."""
_ID_NAME: Final = Pattern(r"(?:^|_| )id$")
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
    readings: dict[str, str] = field(default_factory=dict)
    """SQL for the numbers of those columns of numbers that may hold other cells too."""
    samples: dict[str, list[Any]] = field(default_factory=dict)
    """The cells of the first rows that hold something, by column."""
    marred: dict[str, str] = field(default_factory=dict)
    """Columns of amounts that cannot be computed with, each with a sentence."""

    def read(self, name: str) -> str:
        """Return SQL for the value of a column."""
        return self.readings.get(name) or quote_name(name)

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


def sample_columns(table: AnalysedTable, query: Query, engine: Engine) -> AnalysedTable:
    """Return the table with its columns sorted by what they hold."""
    rows = query(f"SELECT * FROM {quote_name(table.name)} LIMIT {SAMPLE_ROWS}")["rows"]
    found = AnalysedTable(table.name, table.source, table.columns)
    for index, name in enumerate(table.columns):
        values = found.samples[name] = [row[index] for row in rows if row[index] is not None]
        if _is_time(name, values):
            found.times.append(name)
        elif _ID_NAME.search(name.lower()):
            continue
        elif values and all(map(_is_number, values)):
            found.numbers.append(name)
            if engine == "sqlite":  # any cell may hold a text, which counts as 0
                found.readings[name] = _write_reading(name, engine)
        elif amounts := read_amounts([str(value).strip() for value in values]):
            is_plain = count_forms(amounts.numbers).keys() <= {"whole", "point", "point_group"}
            if amounts.numbers and is_plain and not amounts.unit:
                found.numbers.append(name)
                found.readings[name] = _write_reading(name, engine)
            else:
                held = ", ".join(f"{each!r:.30}" for each in list(dict.fromkeys(values))[:3])
                found.marred[name] = f"{name} is text: it holds {held}"
    return found


def _write_reading(name: str, engine: Engine) -> str:
    """Return SQL for the number in a cell of a column that has other cells too; else NULL."""
    cell = quote_name(name)
    if engine == "postgres":
        text = f"TRIM(CAST({cell} AS TEXT))"
        return rf"CASE WHEN {text} ~ '^[-+]?\d+(\.\d+)?$' THEN CAST({text} AS NUMERIC) END"
    if engine == "sqlite":
        return (
            f"CASE WHEN TYPEOF({cell}) IN ('integer', 'real') OR ({cell} GLOB '[-0-9]*[0-9]*' "
            f"AND SUBSTR({cell}, 2) NOT GLOB '*[^0-9.]*' AND {cell} NOT GLOB '*.*.*') "
            f"THEN {cell} + 0 END"
        )
    return f"TRY_CAST({cell} AS DOUBLE)"


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
    if any(isinstance(value, str) and not _SORTABLE_PERIOD.fullmatch(value) for value in values):
        return False
    amounts = [
        value
        for value in values
        if _is_number(value) and (abs(value) > _LARGEST_PERIOD or value != int(value))
    ]
    is_named = _TIME_NAME.search(name.lower()) and not _RATE_NAME.search(name.lower())
    return bool(is_named) and not amounts


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
