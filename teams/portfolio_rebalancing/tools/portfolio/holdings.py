"""Read positions and cash from a table of holdings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from nodes.limits.patterns import Pattern
from nodes.tools.tables.reader import CsvRow, CsvTable, TableDefects, quote_cell

CASH = "CASH"
TICKER_COLUMNS = ("ticker", "symbol", "isin", "security", "instrument", "fund", "asset")
QUANTITY_COLUMNS = ("quantity", "qty", "shares", "units", "number_of_shares")
VALUE_COLUMNS = ("value", "market_value", "position_value", "worth")
TARGET_COLUMNS = ("target_weight", "target", "target_percent", "target_allocation", "weight_target")
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


@dataclass(frozen=True)
class Position:
    """A number of shares, and the last price of one."""

    quantity: Decimal
    price: Decimal
    priced_on: date
    line: int = 0
    """Line of the table of holdings; 0 for a ticker that is only a target."""

    @property
    def value(self) -> Decimal:
        """Return the value of the position."""
        return self.quantity * self.price


@dataclass
class Holdings:
    """The parsed table of holdings."""

    name: str
    positions: dict[str, Holding] = field(default_factory=dict)
    cash: Decimal = Decimal(0)
    targets: dict[str, Decimal] = field(default_factory=dict)
    """Target weights of the file's own column, unchanged."""
    currencies: dict[str, int] = field(default_factory=dict)
    """Each currency and the first line that names it."""


def is_holdings_table(table: CsvTable) -> bool:
    """Return whether a table has the columns of holdings."""
    has_amount = any(
        table.find_column(names) is not None for names in (QUANTITY_COLUMNS, VALUE_COLUMNS)
    )
    return (
        table.find_column(TICKER_COLUMNS) is not None
        and table.find_column(("date",)) is None
        and has_amount
    )


def parse_ticker(text: str) -> str | None:
    """Parse a ticker; every way of writing cash is `CASH`, and None is not a ticker."""
    bare = text.strip().upper()
    if _CASH.fullmatch(bare):
        return CASH
    return bare if _TICKER.fullmatch(bare) else None


def read_holdings(table: CsvTable, defects: TableDefects) -> Holdings:
    """Read positions and cash; errors are added to the defects."""
    found, lines = Holdings(table.name), dict[str, int]()
    column = table.find_column(TICKER_COLUMNS)
    assert column is not None, "a table of holdings has a column of tickers"
    for row in table.rows:
        name = parse_ticker(row.cells[column])
        if name is None:
            defects.add_defect(f"{quote_cell(row.cells[column])} is not a ticker", table, row.line)
        elif name in lines:
            text = f"{name} stands here again, after line {lines[name]}; add up lots of one kind"
            defects.add_defect(text, table, row.line)
        else:
            lines[name] = row.line
            _read_row(found, table, row, name, defects)
    if len(found.positions) > MAX_POSITIONS:
        defects.add_defect(f"{len(found.positions)} positions, of at most {MAX_POSITIONS}", table)
    if not found.positions and not found.cash and not defects.messages:
        defects.add_defect("it holds no position", table)
    if len(found.currencies) > 1:
        text = f"its positions are in several currencies: {format_currencies(found.currencies)}; "
        defects.add_defect(f"{text}bring all into one first, nothing is converted here", table)
    return found


def format_currencies(found: Mapping[str, int]) -> str:
    """Return which currencies a file names, and where first."""
    return ", ".join(f"{name[:10]} (line {line})" for name, line in found.items())


def _read_row(
    found: Holdings, table: CsvTable, row: CsvRow, name: str, defects: TableDefects
) -> None:
    known = len(defects.messages)
    quantity, value, target = (
        _parse_amount(table, row, names, name, defects)
        for names in (QUANTITY_COLUMNS, VALUE_COLUMNS, TARGET_COLUMNS)
    )
    if name == CASH:
        found.cash = value if value is not None else quantity or Decimal(0)
    elif quantity is not None or value is not None:
        found.positions[name] = Holding(row.line, quantity, value)
    elif len(defects.messages) == known:
        defects.add_defect(f"{name} has neither a quantity nor a value", table, row.line)
    if target is not None:
        found.targets[name] = target
    column = table.find_column(CURRENCY_COLUMNS)
    if column is not None and row.cells[column]:
        found.currencies.setdefault(row.cells[column].upper(), row.line)


def _parse_amount(
    table: CsvTable, row: CsvRow, names: tuple[str, ...], name: str, defects: TableDefects
) -> Decimal | None:
    column = table.find_column(names)
    if column is None or not row.cells[column]:
        return None
    value = table.parse_number(row.cells[column].removesuffix("%"))
    what = f"the {table.columns[column]} of {name}, {quote_cell(row.cells[column])},"
    if value is None:
        defects.add_defect(f"{what} is not a number or is ambiguous", table, row.line)
    elif value < 0:
        kind = "overdrawn cash" if name == CASH else "short positions"
        defects.add_defect(f"{what} is below zero; {kind} are not handled", table, row.line)
        return None
    return value
