"""Read positions and cash from a table of holdings."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from extensions.tools.tables.reader import CsvTable, TableDefects, quote_cell
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
