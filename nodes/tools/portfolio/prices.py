"""Closing prices by date, from a wide table (a column a ticker) or a long one (a row a price)."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import pairwise

from nodes.tools.portfolio.holdings import CURRENCY, TICKER, currencies_named, ticker
from nodes.tools.tables.reading import Defects, Row, Table, shown

DATE = ("date", "day", "week", "month", "as_of")
PRICE = ("close", "price", "adj_close", "adjusted_close", "closing_price", "last", "nav")
JUMP = Decimal("0.4")
"""A change between two dates that looks more like a split than like a market."""


@dataclass
class Prices:
    """Prices of each ticker by date."""

    name: str
    series: dict[str, dict[date, Decimal]] = field(default_factory=dict)
    lines: dict[tuple[str, date], int] = field(default_factory=dict)
    currencies: dict[str, int] = field(default_factory=dict)
    """Each currency and the first line that names it."""
    repeated: int = 0
    """Prices that say again, alike, what another row said."""

    def last(self, name: str, as_of: date | None = None) -> tuple[date, Decimal] | None:
        """Give the last price of a ticker, at or before a date."""
        known = self.series.get(name, {})
        days = [day for day in known if as_of is None or day <= as_of]
        return (max(days), known[max(days)]) if days else None

    def jumps(self, names: Iterable[str]) -> Iterator[tuple[str, date, Decimal]]:
        """Give the changes that are too large to be believed: ticker, date, change as a share."""
        for name in names:
            series = self.series.get(name, {})
            for before, after in pairwise(sorted(series)):
                change = series[after] / series[before] - 1
                if abs(change) > JUMP:
                    yield name, after, change


@dataclass(frozen=True)
class _Layout:
    """Which column holds what; `wide` has the column of each ticker."""

    day: int
    name: int | None
    price: int | None
    currency: int | None
    wide: dict[str, int]


def is_prices(table: Table, held: Set[str]) -> bool:
    """Tell a table of prices by its columns: a long one, or one with a column of what is held."""
    layout = _layout(table)
    if layout is None:
        return False
    return None not in (layout.name, layout.price) or bool(layout.wide.keys() & held)


def read_prices(table: Table, wanted: Set[str], defects: Defects) -> Prices:
    """Read the prices of the wanted tickers; whatever is wrong goes into the defects."""
    found, layout = Prices(table.name), _layout(table)
    assert layout is not None, "a table of prices has a column of dates"
    for row in table.rows:
        day = _day(row.cells[layout.day])
        if day is None:
            text = f"{shown(row.cells[layout.day])} is no date such as 2025-05-30"
            defects.add(text, table, row.line)
            continue
        for name, cell in _cells(table, layout, row, defects):
            if name in wanted and cell:
                _put(found, table, row, (name, day, cell), defects)
        if layout.currency is not None and row.cells[layout.currency]:
            found.currencies.setdefault(row.cells[layout.currency].upper(), row.line)
    if len(found.currencies) > 1:
        text = f"its prices are in several currencies: {currencies_named(found.currencies)}"
        defects.add(text, table)
    return found


def _put(
    found: Prices, table: Table, row: Row, point: tuple[str, date, str], defects: Defects
) -> None:
    name, day, cell = point
    price = table.number(cell)
    if price is None:
        text = f"the price of {name}, {shown(cell)}, is no number that can be read in one way"
        defects.add(text, table, row.line)
    elif price <= 0:
        defects.add(f"the price of {name}, {shown(cell)}, is not above zero", table, row.line)
    elif (known := found.series.get(name, {}).get(day)) is None:
        found.series.setdefault(name, {})[day] = price
        found.lines[name, day] = row.line
    elif known == price:
        found.repeated += 1
    else:
        before = found.lines[name, day]
        text = f"{name} has another price on {day} than in line {before}: {price}, not {known}"
        defects.add(text, table, row.line)


def _cells(table: Table, layout: _Layout, row: Row, defects: Defects) -> Iterator[tuple[str, str]]:
    if layout.name is None or layout.price is None:
        yield from ((name, row.cells[column]) for name, column in layout.wide.items())
        return
    name = ticker(row.cells[layout.name])
    if name is None:
        defects.add(f"{shown(row.cells[layout.name])} is no ticker", table, row.line)
    else:
        yield name, row.cells[layout.price]


def _layout(table: Table) -> _Layout | None:
    day, currency = table.column(DATE), table.column(CURRENCY)
    if day is None:
        return None
    named = {
        n: ticker(column) for n, column in enumerate(table.columns) if n not in (day, currency)
    }
    wide = {name: n for n, name in named.items() if name}
    return _Layout(day, table.column(TICKER), table.column(PRICE), currency, wide)


def _day(cell: str) -> date | None:
    try:
        return date.fromisoformat(cell[:10]) if cell[10:11] in ("", " ", "T") else None
    except ValueError:
        return None
