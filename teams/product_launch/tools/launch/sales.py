"""Read what was sold at which price from a CSV material."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from extensions.tools.tables.formatting import format_money
from extensions.tools.tables.reader import CsvTable, TableDefects, normalize_column_name
from extensions.tools.tables.selection import require_table
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

PRICE_COLUMNS = (
    *("price", "unit_price", "sale_price", "price_per_unit", "avg_price", "average_price"),
)
UNITS_COLUMNS = (
    *("units", "units_sold", "quantity", "qty", "quantity_sold", "sold", "demand", "volume"),
)
GROUP_COLUMNS = (
    *("product", "sku", "item", "segment", "market", "region", "country", "store", "channel"),
)
PERIOD_COLUMNS = ("week", "month", "date", "day", "period")
MAX_GROUPS = 12
MAX_LABEL_CHARS = 40

_CURRENCY_SUFFIX = Pattern(
    r"(?:_|\()(eur|usd|gbp|chf|sek|nok|dkk|pln|jpy|cad|aud)\)?$", re.IGNORECASE
)


@dataclass(frozen=True)
class PricedSale:
    """A row: a price, and the units sold at it."""

    price: float
    units: float


@dataclass(frozen=True)
class ProductSales:
    """The sales of one product or market, in the order of the file."""

    source: str
    group: str
    sold: tuple[PricedSale, ...]
    """Rows in which something was sold; zero has no logarithm."""
    zero_sales_rows: int
    currency: str
    period: str
    """What a row represents, such as a week; empty if the rows are not consecutive in time."""

    @property
    def tried(self) -> tuple[float, float]:
        """Return the lowest and the highest price that was tried."""
        prices = [sale.price for sale in self.sold]
        return min(prices), max(prices)

    @property
    def of_group(self) -> str:
        """Return " of" and the group; empty if there is only one."""
        return f" of {self.group}" if self.group else ""

    def format_money(self, amount: float) -> str:
        """Return an amount with the currency of the table."""
        return f"{format_money(amount)} {self.currency}".rstrip()


def is_sales_table(table: CsvTable) -> bool:
    """Return whether a table has the columns of sales."""
    return None not in (_find_column(table, PRICE_COLUMNS), _find_column(table, UNITS_COLUMNS))


def load_sales(
    materials: Mapping[str, str] | None, files: Iterable[str] = ()
) -> list[ProductSales]:
    """Read the table of sales, one entry per product or market.

    Raises:
        ToolRefused: there is none, several would fit, or rows cannot be read; names the places.
    """
    table = require_table(materials, "has columns of prices and units", is_sales_table, files)
    price, units = (_find_column(table, names) for names in (PRICE_COLUMNS, UNITS_COLUMNS))
    assert price is not None and units is not None, "a table of sales has both"
    grouped, defects = dict[str, list[PricedSale]](), TableDefects()
    group, period = table.find_column(GROUP_COLUMNS), table.find_column(PERIOD_COLUMNS)
    for row in table.rows:
        asked = defects.parse_amount(table, row, price, "the price")
        count = defects.parse_amount(table, row, units, "the number of units")
        if asked == 0:
            defects.add_defect("the price is not above zero", table, row.line)
        elif asked is not None and count is not None:
            label = "" if group is None else sanitize_line(row.cells[group], MAX_LABEL_CHARS)
            grouped.setdefault(label, []).append(PricedSale(float(asked), float(count)))
    defects.raise_if_any()
    if len(grouped) > MAX_GROUPS:
        raise ToolRefused(f"{table.name} has {len(grouped)} groups, of at most {MAX_GROUPS}")
    currency = _CURRENCY_SUFFIX.search(table.columns[price])
    return [
        ProductSales(
            source=table.name,
            group=label,
            sold=tuple(sale for sale in sales if sale.units),
            zero_sales_rows=sum(not sale.units for sale in sales),
            currency=currency.group(1).upper() if currency else "",
            period="" if period is None else normalize_column_name(table.columns[period]),
        )
        for label, sales in grouped.items()
    ]


def _find_column(table: CsvTable, names: Iterable[str]) -> int | None:
    """Return a column whose name may end in a currency."""
    columns = [_CURRENCY_SUFFIX.sub("", column) for column in table.columns]
    return CsvTable(table.name, tuple(columns)).find_column(names)
