"""Read closing prices by date, from a table with a column per ticker or a row per price."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import pairwise

from nodes.tools.tables.reader import CsvRow, CsvTable, TableDefects, quote_cell

from .holdings import (
    CURRENCY_COLUMNS,
    TICKER_COLUMNS,
    format_currencies,
    parse_ticker,
)

DATE_COLUMNS = ("date", "day", "week", "month", "as_of")
PRICE_COLUMNS = ("close", "price", "adj_close", "adjusted_close", "closing_price", "last", "nav")
MAX_PLAUSIBLE_CHANGE = Decimal("0.4")
"""A change between two dates that looks more like a split than like a market move."""


@dataclass
class Prices:
    """Prices of each ticker by date."""

    name: str
    series: dict[str, dict[date, Decimal]] = field(default_factory=dict)
    lines: dict[tuple[str, date], int] = field(default_factory=dict)
    currencies: dict[str, int] = field(default_factory=dict)
    """Each currency and the first line that names it."""
    repeated_count: int = 0
    """Prices that repeat another row with the same value."""

    def find_last(self, name: str, as_of: date | None = None) -> tuple[date, Decimal] | None:
        """Return the last price of a ticker, at or before a date."""
        known = self.series.get(name, {})
        days = [day for day in known if as_of is None or day <= as_of]
        return (max(days), known[max(days)]) if days else None

    def find_jumps(self, names: Iterable[str]) -> Iterator[tuple[str, date, Decimal]]:
        """Return implausibly large changes: ticker, date, change as a share."""
        for name in names:
            series = self.series.get(name, {})
            for before, after in pairwise(sorted(series)):
                change = series[after] / series[before] - 1
                if abs(change) > MAX_PLAUSIBLE_CHANGE:
                    yield name, after, change


@dataclass(frozen=True)
class _PriceLayout:
    """Which column holds what; `wide` has the column of each ticker."""

    date_column: int
    ticker_column: int | None
    price_column: int | None
    currency_column: int | None
    price_columns: dict[str, int]


def is_prices_table(table: CsvTable, held: Set[str]) -> bool:
    """Return whether a table has prices: a long one, or one with a column of a ticker held."""
    layout = _find_layout(table)
    if layout is None:
        return False
    return None not in (layout.ticker_column, layout.price_column) or bool(
        layout.price_columns.keys() & held
    )


def read_prices(table: CsvTable, wanted: Set[str], defects: TableDefects) -> Prices:
    """Read the prices of the wanted tickers; errors are added to the defects."""
    found, layout = Prices(table.name), _find_layout(table)
    assert layout is not None, "a table of prices has a column of dates"
    for row in table.rows:
        day = _parse_date(row.cells[layout.date_column])
        if day is None:
            text = f"{quote_cell(row.cells[layout.date_column])} is not a date such as 2025-05-30"
            defects.add_defect(text, table, row.line)
            continue
        for name, cell in _iterate_prices(table, layout, row, defects):
            if name in wanted and cell:
                _add_price(found, table, row, (name, day, cell), defects)
        if layout.currency_column is not None and row.cells[layout.currency_column]:
            found.currencies.setdefault(row.cells[layout.currency_column].upper(), row.line)
    if len(found.currencies) > 1:
        text = f"its prices are in several currencies: {format_currencies(found.currencies)}"
        defects.add_defect(text, table)
    return found


def _add_price(
    found: Prices, table: CsvTable, row: CsvRow, point: tuple[str, date, str], defects: TableDefects
) -> None:
    name, day, cell = point
    price = table.parse_number(cell)
    if price is None:
        text = f"the price of {name}, {quote_cell(cell)}, is not a number or is ambiguous"
        defects.add_defect(text, table, row.line)
    elif price <= 0:
        defects.add_defect(
            f"the price of {name}, {quote_cell(cell)}, is not above zero", table, row.line
        )
    elif (known := found.series.get(name, {}).get(day)) is None:
        found.series.setdefault(name, {})[day] = price
        found.lines[name, day] = row.line
    elif known == price:
        found.repeated_count += 1
    else:
        before = found.lines[name, day]
        text = f"{name} has another price on {day} than in line {before}: {price}, not {known}"
        defects.add_defect(text, table, row.line)


def _iterate_prices(
    table: CsvTable, layout: _PriceLayout, row: CsvRow, defects: TableDefects
) -> Iterator[tuple[str, str]]:
    if layout.ticker_column is None or layout.price_column is None:
        yield from ((name, row.cells[column]) for name, column in layout.price_columns.items())
        return
    name = parse_ticker(row.cells[layout.ticker_column])
    if name is None:
        defects.add_defect(
            f"{quote_cell(row.cells[layout.ticker_column])} is not a ticker", table, row.line
        )
    else:
        yield name, row.cells[layout.price_column]


def _find_layout(table: CsvTable) -> _PriceLayout | None:
    day, currency = table.find_column(DATE_COLUMNS), table.find_column(CURRENCY_COLUMNS)
    if day is None:
        return None
    named = {
        n: parse_ticker(column)
        for n, column in enumerate(table.columns)
        if n not in (day, currency)
    }
    wide = {name: n for n, name in named.items() if name}
    return _PriceLayout(
        day, table.find_column(TICKER_COLUMNS), table.find_column(PRICE_COLUMNS), currency, wide
    )


def _parse_date(cell: str) -> date | None:
    try:
        return date.fromisoformat(cell[:10]) if cell[10:11] in ("", " ", "T") else None
    except ValueError:
        return None
