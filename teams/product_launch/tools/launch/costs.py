"""Read unit cost and fixed costs from a table."""

from collections.abc import Iterable, Mapping

from extensions.tools.tables.reader import CsvTable, TableDefects, normalize_column_name
from extensions.tools.tables.selection import find_table

from .sales import is_sales_table

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
