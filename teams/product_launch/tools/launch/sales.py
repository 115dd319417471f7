"""Read what was sold at which price, and what a unit costs, from CSV materials."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from extensions.tools.tables.formatting import format_money
from extensions.tools.tables.reader import (
    CsvTable,
    TableDefects,
    find_table,
    normalize_column_name,
    require_table,
)
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


ITEM_COLUMNS = ("item", "cost", "name", "position", "kind")
AMOUNT_COLUMNS = ("amount", "value", "amount_eur", "amount_usd", "amount_gbp", "eur", "usd", "gbp")
UNIT_COST_ITEMS = ("unit_cost", "unit_costs", "variable_cost", "variable_costs", "cost_per_unit")
FIXED_COST_ITEMS = ("fixed_cost", "fixed_costs", "launch_budget", "setup_cost", "setup_costs")


def load_costs(
    materials: Mapping[str, str] | None, files: Iterable[str] = ()
) -> tuple[float | None, float | None, str]:
    """Return unit cost and fixed costs, None if not stated, and the name of their table.

    Raises:
        ToolRefused: a cost cannot be read or is stated twice, or several tables fit.
    """
    table = find_table(materials, "is a table of costs (item, amount)", _is_costs_table, files)
    if table is None:
        return None, None, ""
    defects = TableDefects()
    unit, fixed = (_read_cost(table, each, defects) for each in (UNIT_COST_ITEMS, FIXED_COST_ITEMS))
    defects.raise_if_any()
    return unit, fixed, "" if unit is fixed is None else table.name


def _is_costs_table(table: CsvTable) -> bool:
    has_both = None not in (table.find_column(ITEM_COLUMNS), table.find_column(AMOUNT_COLUMNS))
    return has_both and not is_sales_table(table)


def _read_cost(table: CsvTable, items: tuple[str, ...], defects: TableDefects) -> float | None:
    item, amount = table.find_column(ITEM_COLUMNS), table.find_column(AMOUNT_COLUMNS)
    assert item is not None and amount is not None, "a table of costs has both"
    rows = [row for row in table.rows if normalize_column_name(row.cells[item]) in items]
    if len(rows) > 1:
        defects.add_defect(f"a second {items[0]}; add them up", table, rows[1].line)
    found = [defects.parse_amount(table, row, amount, "the amount") for row in rows]
    return None if not found or found[0] is None else float(found[0])
