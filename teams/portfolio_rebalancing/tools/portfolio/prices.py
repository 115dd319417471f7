"""Read closing prices by date, from a table with a column per ticker or a row per price."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import pairwise

from extensions.tools.tables.reader import CsvTable, TableDefects, quote_cell
from nodes.text.csv_table import CsvRecord

from .holdings import TICKER_COLUMNS, iterate_tickers, parse_ticker, read_currencies

DATE_COLUMNS = ("date", "day", "week", "month", "as_of")
PRICE_COLUMNS = ("close", "price", "adj_close", "adjusted_close", "closing_price", "last", "nav")
MAX_PLAUSIBLE_CHANGE = Decimal("0.4")
"""A change between two dates that looks more like a split than like a market move."""


@dataclass
class Prices:
    """Prices of each ticker by date."""

    name: str
    currencies: dict[str, int] = field(default_factory=dict)
    """Each currency and the first line that names it."""
    series: dict[str, dict[date, Decimal]] = field(default_factory=dict)
    lines: dict[tuple[str, date], int] = field(default_factory=dict)

    def find_last(self, name: str, as_of: date | None = None) -> tuple[date, Decimal] | None:
        """Return the last price of a ticker, at or before a date."""
        known = self.series.get(name, {})
        day = max((day for day in known if as_of is None or day <= as_of), default=None)
        return None if day is None else (day, known[day])

    def find_jumps(self, names: Iterable[str]) -> Iterator[tuple[str, date, Decimal]]:
        """Return implausibly large changes: ticker, date, change as a share."""
        for name in names:
            series = self.series.get(name, {})
            for before, after in pairwise(sorted(series)):
                change = series[after] / series[before] - 1
                if abs(change) > MAX_PLAUSIBLE_CHANGE:
                    yield name, after, change


def is_prices_table(table: CsvTable, names: Set[str]) -> bool:
    """Return whether a table has prices: a long one, or one with a column of one of the tickers."""
    if table.find_column(DATE_COLUMNS) is None:
        return False
    is_long = None not in (table.find_column(TICKER_COLUMNS), table.find_column(PRICE_COLUMNS))
    return is_long or not names.isdisjoint(map(parse_ticker, table.columns))


def read_prices(table: CsvTable, names: Set[str], defects: TableDefects) -> Prices:
    """Read the prices of some tickers; errors are added to the defects."""
    found, days = Prices(table.name, read_currencies(table, defects)), _read_days(table, defects)
    for row, name, column in _list_cells(table, names, defects):
        if not row.cells[column] or row.line not in days:
            continue
        price, day = (
            defects.parse_amount(table, row, column, f"the price of {name}"),
            days[row.line],
        )
        series = found.series.setdefault(name, {})
        if price == 0:
            defects.add_defect(f"the price of {name} is not above zero", table, row.line)
        elif price and price != series.setdefault(day, price):
            text = f"{name} has another price on {day} than in line {found.lines[name, day]}"
            defects.add_defect(f"{text}: {price}, not {series[day]}", table, row.line)
        found.lines.setdefault((name, day), row.line)
    return found


def _read_days(table: CsvTable, defects: TableDefects) -> dict[int, date]:
    """Return the date of each line."""
    column, found = table.find_column(DATE_COLUMNS), dict[int, date]()
    assert column is not None, "a table of prices has a column of dates"
    for row in table.rows:
        cell = row.cells[column]
        try:
            if cell[10:11] not in ("", " ", "T"):
                raise ValueError(cell)
            found[row.line] = date.fromisoformat(cell[:10])
        except ValueError:
            text = f"{quote_cell(cell)} is not a date such as 2025-05-30"
            defects.add_defect(text, table, row.line)
    return found


def _list_cells(
    table: CsvTable, names: Set[str], defects: TableDefects
) -> Iterator[tuple[CsvRecord, str, int]]:
    """Yield the cells that hold a price: row, ticker, column."""
    price = table.find_column(PRICE_COLUMNS)
    if price is not None and table.find_column(TICKER_COLUMNS) is not None:
        rows = iterate_tickers(table, defects)
        yield from ((row, name, price) for row, name in rows if name in names)
        return
    columns = {n: parse_ticker(column) for n, column in enumerate(table.columns)}
    for row in table.rows:
        yield from ((row, name, n) for n, name in columns.items() if name and name in names)
