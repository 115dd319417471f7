"""What was sold at which price, from a CSV material."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.materials import material_text
from nodes.tools.plain_text import plain_line
from nodes.tools.tables.reading import Defects, Row, Table, heads, plain_name, read_table, shown

PRICE = ("price", "unit_price", "sale_price", "price_per_unit", "avg_price", "average_price")
UNITS = ("units", "units_sold", "quantity", "qty", "quantity_sold", "sold", "demand", "volume")
GROUP = ("product", "sku", "item", "segment", "market", "region", "country", "store", "channel")
PERIOD = ("week", "month", "date", "day", "period")
MAX_GROUPS = 12
MAX_LABEL_CHARS = 40
MIN_PRICES = 3
MIN_ROWS = 8

_CURRENCY = Pattern(r"(?:_|\()(eur|usd|gbp|chf|sek|nok|dkk|pln|jpy|cad|aud)\)?$", re.IGNORECASE)
_SPAN = {"week": "week", "month": "month", "date": "row", "day": "day", "period": "period"}


@dataclass(frozen=True)
class Sale:
    """A row: a price, and the units sold at it."""

    price: Decimal
    units: Decimal


@dataclass(frozen=True)
class Sales:
    """The sales of one product or market, in the order of the file."""

    source: str
    group: str
    rows: tuple[Sale, ...]
    without_sales: int
    """Rows in which nothing was sold; a logarithm cannot take them."""
    currency: str
    span: str
    """What a row stands for, such as a week."""
    is_in_order: bool
    """Whether the rows follow each other in time."""

    @property
    def lowest(self) -> Decimal:
        """Give the lowest price that was tried."""
        return min(sale.price for sale in self.rows)

    @property
    def highest(self) -> Decimal:
        """Give the highest price that was tried."""
        return max(sale.price for sale in self.rows)


def is_sales(table: Table) -> bool:
    """Tell a table of sales by its columns."""
    return None not in (_column(table, PRICE), _column(table, UNITS))


def load_sales(materials: Mapping[str, str] | None, name: str = "") -> list[Sales]:
    """Read the table of sales, one entry a product or market.

    Raises:
        ToolRefused: there is none, several would fit, or rows cannot be read; names the places.
    """
    table = _table(materials, name)
    grouped, defects = dict[str, list[Sale]](), Defects()
    group = table.column(GROUP)
    for row in table.rows:
        if sale := _sale(table, row, defects):
            label = row.cells[group].replace("|", "/") if group is not None else ""
            grouped.setdefault(plain_line(label, MAX_LABEL_CHARS), []).append(sale)
    defects.check()
    if len(grouped) > MAX_GROUPS:
        raise ToolRefused(
            f"{table.name} has {len(grouped)} groups by {table.columns[group or 0]}, of at most "
            f"{MAX_GROUPS}; give fewer"
        )
    return [_sales(table, label, sales) for label, sales in grouped.items()]


def _table(materials: Mapping[str, str] | None, name: str) -> Table:
    if name:
        table = read_table(name, material_text(name, materials))
        if not is_sales(table):
            raise ToolRefused(f"{name} has no columns of prices and units, such as price, units")
        return table
    fitting = [table.name for table in heads(materials) if is_sales(table)]
    if len(fitting) > 1:
        raise ToolRefused(f"several materials look like sales: {', '.join(fitting)}; name one")
    if not fitting:
        known = ", ".join(materials or {}) or "none"
        raise ToolRefused(
            f"no CSV material has columns of prices and units; materials of this task: {known}"
        )
    return read_table(fitting[0], material_text(fitting[0], materials))


def _sale(table: Table, row: Row, defects: Defects) -> Sale | None:
    read = []
    for what, names in (("price", PRICE), ("number of units", UNITS)):
        column = _column(table, names)
        assert column is not None, "a table of sales has both"
        value = table.number(row.cells[column])
        if value is None:
            text = f"the {what}, {shown(row.cells[column])}, is no number that can be read one way"
            defects.add(text, table, row.line)
        elif value < 0 or (what == "price" and value == 0):
            defects.add(f"the {what}, {value}, is not above zero", table, row.line)
        else:
            read.append(value)
    return Sale(*read) if len(read) == 2 else None


def _sales(table: Table, label: str, sales: list[Sale]) -> Sales:
    price, period = _column(table, PRICE), table.column(PERIOD)
    assert price is not None, "a table of sales has prices"
    currency = _CURRENCY.search(table.columns[price].strip())
    return Sales(
        source=table.name,
        group=label,
        rows=tuple(sale for sale in sales if sale.units),
        without_sales=sum(not sale.units for sale in sales),
        currency=currency.group(1).upper() if currency else "",
        span=_SPAN[plain_name(table.columns[period])] if period is not None else "row",
        is_in_order=period is not None,
    )


def _column(table: Table, names: Iterable[str]) -> int | None:
    """Find a column whose name may end in a currency."""
    bare = [plain_name(_CURRENCY.sub("", column.strip())) for column in table.columns]
    return next((bare.index(name) for name in names if name in bare), None)
