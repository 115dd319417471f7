"""Read positions and cash, closing prices by date, and target weights, each from a table."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from extensions.tools.tables.formatting import format_number
from extensions.tools.tables.reader import CsvTable, TableDefects, quote_cell
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.csv_table import CsvRecord

Percent = Annotated[float, Field(ge=0, le=100)]
Amount = Annotated[float, Field(ge=0, le=1e12)]
AsOf = Annotated[
    date | None,
    Field(description="Day to value at, by the last prices until then; by default the latest day"),
]
TargetWeightsPercent = Annotated[
    dict[str, Percent] | None,
    Field(
        max_length=200,
        description="Target weights in percent of the portfolio by ticker, CASH for cash; they "
        "sum to 100 and replace those of a table",
    ),
]
Ticker = Annotated[str, Field(max_length=15)]
Tickers = Annotated[tuple[Ticker, ...], Field(max_length=200)]


CASH = "CASH"
TICKER_COLUMNS = ("ticker", "symbol", "isin", "security", "instrument", "fund", "asset")
QUANTITY_COLUMNS = ("quantity", "qty", "shares", "units", "number_of_shares")
VALUE_COLUMNS = ("value", "market_value", "position_value", "worth")
CURRENCY_COLUMNS = ("currency", "ccy")
MAX_POSITIONS = 200

_TICKER = Pattern(r"[A-Z0-9][A-Z0-9.\-=^/&]{0,14}")
_CASH = Pattern(r"CASH(?:[ _.\-]?[A-Z]{3})?|[A-Z]{3}[ _.\-]?CASH")


@dataclass(frozen=True)
class Holding:
    """A position: its number of shares, or else its value in the file."""

    line: int
    quantity: Decimal | None
    value: Decimal | None


@dataclass
class Holdings:
    """The parsed table of holdings."""

    name: str
    currencies: dict[str, int]
    """Each currency and the first line that names it."""
    positions: dict[str, Holding] = field(default_factory=dict)
    cash: Decimal = Decimal(0)


def is_holdings_table(table: CsvTable) -> bool:
    """Return whether a table has the columns of holdings."""
    amounts = table.find_column((*QUANTITY_COLUMNS, *VALUE_COLUMNS))
    is_history = table.find_column(("date",)) is not None
    return table.find_column(TICKER_COLUMNS) is not None and amounts is not None and not is_history


def parse_ticker(text: str) -> str | None:
    """Parse a ticker; every way of writing cash is `CASH`, and None is not a ticker."""
    bare = text.strip().upper()
    if _CASH.fullmatch(bare):
        return CASH
    return bare if _TICKER.fullmatch(bare) else None


def iterate_tickers(table: CsvTable, defects: TableDefects) -> Iterator[tuple[CsvRecord, str]]:
    """Yield each row and its ticker; a cell that holds none is a defect."""
    column = table.find_column(TICKER_COLUMNS)
    assert column is not None, "it was chosen for its column of tickers"
    for row in table.rows:
        if name := parse_ticker(row.cells[column]):
            yield row, name
        else:
            defects.add_defect(f"{quote_cell(row.cells[column])} is not a ticker", table, row.line)


def read_currencies(table: CsvTable, defects: TableDefects) -> dict[str, int]:
    """Return each currency of a table and the first line that names it; several are a defect."""
    column, found = table.find_column(CURRENCY_COLUMNS), dict[str, int]()
    for row in table.rows:
        if column is not None and row.cells[column]:
            found.setdefault(row.cells[column].upper(), row.line)
    if len(found) > 1:
        named = ", ".join(f"{name[:10]} (line {line})" for name, line in found.items())
        text = f"it has several currencies: {named}; bring all into one first, none is converted"
        defects.add_defect(text, table)
    return found


def read_holdings(table: CsvTable, defects: TableDefects) -> Holdings:
    """Read positions and cash; errors are added to the defects."""
    found, lines = Holdings(table.name, read_currencies(table, defects)), dict[str, int]()
    for row, name in iterate_tickers(table, defects):
        if name in lines:
            text = f"{name} stands here again, after line {lines[name]}; add up lots of one kind"
            defects.add_defect(text, table, row.line)
        else:
            lines[name] = row.line
            _read_row(found, table, row, name, defects)
    if len(found.positions) > MAX_POSITIONS:
        defects.add_defect(f"{len(found.positions)} positions, of at most {MAX_POSITIONS}", table)
    if not found.positions and not found.cash and not defects.messages:
        defects.add_defect("it holds no position", table)
    return found


def _read_row(
    found: Holdings, table: CsvTable, row: CsvRecord, name: str, defects: TableDefects
) -> None:
    columns = [table.find_column(names) for names in (QUANTITY_COLUMNS, VALUE_COLUMNS)]
    filled = [None if n is None or not row.cells[n] else n for n in columns]
    quantity, value = (
        None
        if n is None
        else defects.parse_amount(table, row, n, f"the {table.columns[n]} of {name}")
        for n in filled
    )
    if name == CASH:
        found.cash = value if value is not None else quantity or Decimal(0)
    elif filled != [None, None]:
        found.positions[name] = Holding(row.line, quantity, value)
    else:
        defects.add_defect(f"{name} has neither a quantity nor a value", table, row.line)


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


TARGET_COLUMNS = ("target_weight", "target", "target_percent", "target_allocation", "weight_target")
_OTHER_COLUMNS = ("weight", "weights", "percent", "percentage", "allocation", "share")
WEIGHT_COLUMNS = (*TARGET_COLUMNS, *_OTHER_COLUMNS)
ROUNDING_TOLERANCE = Decimal("0.005")
"""Weights that sum to a whole but for rounding are scaled; others are refused."""


@dataclass(frozen=True)
class TargetWeights:
    """Weights as shares of one, cash included where it is named, and their source."""

    weights: Mapping[str, Decimal] = field(default_factory=dict)
    source: str = ""
    """Name of the material; empty if they were given."""
    notes: tuple[str, ...] = ()


def is_targets_table(table: CsvTable) -> bool:
    """Return whether a table has target weights, and is not one of holdings or prices."""
    has_both = None not in (table.find_column(TICKER_COLUMNS), table.find_column(WEIGHT_COLUMNS))
    return has_both and table.find_column(("date",)) is None and not is_holdings_table(table)


def resolve_targets(
    given: Mapping[str, float], table: CsvTable | None, defects: TableDefects
) -> TargetWeights:
    """Return the target weights; given ones take precedence over those of a table.

    Raises:
        ToolRefused: they do not sum to 100 percent, or are not those of tickers.
    """
    if given:
        notes = [f"The weights given were used, not those of {table.name}."] if table else []
        return _scale_weights(_name_weights(given), "", notes)
    weights = _read_weights(table, defects) if table else {}
    defects.raise_if_any()
    return _scale_weights(weights, table.name, []) if table and weights else TargetWeights()


def _name_weights(given: Mapping[str, float]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for text, percent in given.items():
        name = parse_ticker(text.strip(" ."))
        if name is None or name in found:
            problem = "is not a ticker" if name is None else "has a second weight"
            raise ToolRefused(f"target_weights_percent: {quote_cell(text)} {problem}")
        found[name] = Decimal(str(percent))
    return found


def _read_weights(table: CsvTable, defects: TableDefects) -> dict[str, Decimal]:
    column, found = table.find_column(WEIGHT_COLUMNS), dict[str, Decimal]()
    assert column is not None, "it is a table of targets"
    for row, name in iterate_tickers(table, defects):
        if name in found:
            defects.add_defect(f"{name} has a second weight", table, row.line)
        elif row.cells[column]:
            weight = defects.parse_amount(table, row, column, f"the weight of {name}")
            found[name] = weight or Decimal(0)
    return found


def _scale_weights(given: Mapping[str, Decimal], source: str, notes: list[str]) -> TargetWeights:
    total, where = sum(given.values(), Decimal(0)), source or "the call"
    whole = Decimal(1) if total <= Decimal("1.5") else Decimal(100)
    if abs(total / whole - 1) > ROUNDING_TOLERANCE:
        raise ToolRefused(
            f"the target weights of {where} sum to {format_number(total)}, not to {whole}; give a "
            "weight for each ticker, CASH included if cash is to be kept"
        )
    if total != whole:
        text = f"The target weights of {where} sum to {format_number(total)} and were scaled to "
        notes = [*notes, f"{text}{whole}."]
    return TargetWeights({n: each / total for n, each in given.items()}, source, tuple(notes))
