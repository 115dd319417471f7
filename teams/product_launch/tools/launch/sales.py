"""Read what was sold at which price from a CSV material."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.materials import get_material_text
from nodes.tools.tables.reader import (
    CsvRow,
    CsvTable,
    TableDefects,
    normalize_column_name,
    quote_cell,
    read_headers,
    read_table,
)

PRICE_COLUMNS = (
    "price",
    "unit_price",
    "sale_price",
    "price_per_unit",
    "avg_price",
    "average_price",
)
UNITS_COLUMNS = (
    "units",
    "units_sold",
    "quantity",
    "qty",
    "quantity_sold",
    "sold",
    "demand",
    "volume",
)
GROUP_COLUMNS = (
    "product",
    "sku",
    "item",
    "segment",
    "market",
    "region",
    "country",
    "store",
    "channel",
)
PERIOD_COLUMNS = ("week", "month", "date", "day", "period")
MAX_GROUPS = 12
MAX_LABEL_CHARS = 40
MIN_PRICES = 3
MIN_ROWS = 8

_CURRENCY_SUFFIX = Pattern(
    r"(?:_|\()(eur|usd|gbp|chf|sek|nok|dkk|pln|jpy|cad|aud)\)?$", re.IGNORECASE
)
_PERIOD_NAMES = {"week": "week", "month": "month", "date": "row", "day": "day", "period": "period"}


@dataclass(frozen=True)
class PricedSale:
    """A row: a price, and the units sold at it."""

    price: Decimal
    units: Decimal


@dataclass(frozen=True)
class ProductSales:
    """The sales of one product or market, in the order of the file."""

    source: str
    group: str
    rows: tuple[PricedSale, ...]
    zero_sales_rows: int
    """Rows in which nothing was sold; zero has no logarithm."""
    currency: str
    period_name: str
    """What a row represents, such as a week."""
    is_chronological: bool
    """Whether the rows are consecutive in time."""

    @property
    def lowest_price(self) -> Decimal:
        """Return the lowest price that was tried."""
        return min(sale.price for sale in self.rows)

    @property
    def highest_price(self) -> Decimal:
        """Return the highest price that was tried."""
        return max(sale.price for sale in self.rows)


def is_sales_table(table: CsvTable) -> bool:
    """Return whether a table has the columns of sales."""
    return None not in (_find_column(table, PRICE_COLUMNS), _find_column(table, UNITS_COLUMNS))


def load_sales(materials: Mapping[str, str] | None, name: str = "") -> list[ProductSales]:
    """Read the table of sales, one entry per product or market.

    Raises:
        ToolRefused: there is none, several would fit, or rows cannot be read; names the places.
    """
    table = _find_sales_table(materials, name)
    grouped, defects = dict[str, list[PricedSale]](), TableDefects()
    group = table.find_column(GROUP_COLUMNS)
    for row in table.rows:
        if sale := _parse_sale(table, row, defects):
            label = row.cells[group].replace("|", "/") if group is not None else ""
            grouped.setdefault(sanitize_line(label, MAX_LABEL_CHARS), []).append(sale)
    defects.raise_if_any()
    if len(grouped) > MAX_GROUPS:
        raise ToolRefused(
            f"{table.name} has {len(grouped)} groups by {table.columns[group or 0]}, of at most "
            f"{MAX_GROUPS}; give fewer"
        )
    return [_build_sales(table, label, sales) for label, sales in grouped.items()]


def _find_sales_table(materials: Mapping[str, str] | None, name: str) -> CsvTable:
    if name:
        table = read_table(name, get_material_text(name, materials))
        if not is_sales_table(table):
            raise ToolRefused(f"{name} has no columns of prices and units, such as price, units")
        return table
    fitting = [table.name for table in read_headers(materials) if is_sales_table(table)]
    if len(fitting) > 1:
        raise ToolRefused(f"several materials look like sales: {', '.join(fitting)}; name one")
    if not fitting:
        known = ", ".join(materials or {}) or "none"
        raise ToolRefused(
            f"no CSV material has columns of prices and units; materials of this task: {known}"
        )
    return read_table(fitting[0], get_material_text(fitting[0], materials))


def _parse_sale(table: CsvTable, row: CsvRow, defects: TableDefects) -> PricedSale | None:
    read = []
    for what, names in (("price", PRICE_COLUMNS), ("number of units", UNITS_COLUMNS)):
        column = _find_column(table, names)
        assert column is not None, "a table of sales has both"
        value = table.parse_number(row.cells[column])
        if value is None:
            text = f"the {what}, {quote_cell(row.cells[column])}, is not a number or is ambiguous"
            defects.add_defect(text, table, row.line)
        elif value < 0 or (what == "price" and value == 0):
            defects.add_defect(f"the {what}, {value}, is not above zero", table, row.line)
        else:
            read.append(value)
    return PricedSale(*read) if len(read) == 2 else None


def _build_sales(table: CsvTable, label: str, sales: list[PricedSale]) -> ProductSales:
    price, period = _find_column(table, PRICE_COLUMNS), table.find_column(PERIOD_COLUMNS)
    assert price is not None, "a table of sales has prices"
    currency = _CURRENCY_SUFFIX.search(table.columns[price].strip())
    return ProductSales(
        source=table.name,
        group=label,
        rows=tuple(sale for sale in sales if sale.units),
        zero_sales_rows=sum(not sale.units for sale in sales),
        currency=currency.group(1).upper() if currency else "",
        period_name=_PERIOD_NAMES[normalize_column_name(table.columns[period])]
        if period is not None
        else "row",
        is_chronological=period is not None,
    )


def _find_column(table: CsvTable, names: Iterable[str]) -> int | None:
    """Return a column whose name may end in a currency."""
    bare = [
        normalize_column_name(_CURRENCY_SUFFIX.sub("", column.strip())) for column in table.columns
    ]
    return next((bare.index(name) for name in names if name in bare), None)
