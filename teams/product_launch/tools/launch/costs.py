"""Read unit cost and fixed costs: from the request's words, else from a table."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.framework.materials import get_material_text
from nodes.tools.tables.numbers import parse_number
from nodes.tools.tables.reader import (
    CsvTable,
    TableDefects,
    normalize_column_name,
    quote_cell,
    read_headers,
    read_table,
)

from .sales import is_sales_table

ITEM_COLUMNS = ("item", "cost", "name", "position", "kind")
AMOUNT_COLUMNS = ("amount", "value", "amount_eur", "amount_usd", "amount_gbp", "eur", "usd", "gbp")
MAX_REQUEST_CHARS = 4_000

_NOT_PERCENT = r"(?!\d|[.,]\d| ?(?:%|per ?cent))"
_CURRENCY_SIGN = r"(?:[€$£]|EUR|USD|GBP|CHF|euros?)?"
_MONEY_AMOUNT = rf"{_CURRENCY_SIGN} ?(?P<n>\d[\d,.]{{0,30}}\d|\d){_NOT_PERCENT} ?{_CURRENCY_SIGN}"
_IS_PHRASE = r"(?: (?:of|is|are|at|about)){0,4} ?:? ?"
_UNIT_COST_PATTERNS = (
    rf"(?:unit|variable|marginal) costs?{_IS_PHRASE}{_MONEY_AMOUNT}",
    rf"costs?(?: per (?:unit|piece))?(?: us)?{_IS_PHRASE}{_MONEY_AMOUNT} ?(?:per|a|each|/) "
    r"?(?:unit|piece)",
    rf"cost per (?:unit|piece){_IS_PHRASE}{_MONEY_AMOUNT}",
)
_FIXED_COST_PATTERNS = (
    rf"(?:fixed costs?|launch budget|set-?up costs?){_IS_PHRASE}{_MONEY_AMOUNT}",
    rf"{_MONEY_AMOUNT} ?(?:of |in )(?:fixed costs?|launch budget)",
)
_ASKED_PRICE_PATTERNS = (
    rf"(?:at|to|for) a price{_IS_PHRASE}{_MONEY_AMOUNT}",
    r"(?:sell(?:ing)?|launch(?:ing)?|price[ds]?|pricing)(?: it| them)?(?: at| for| of| to) "
    rf"{_MONEY_AMOUNT}",
)
_UNIT_COST_NAMES = ("unit_cost", "unit_costs", "variable_cost", "variable_costs", "cost_per_unit")
_FIXED_COST_NAMES = ("fixed_cost", "fixed_costs", "launch_budget", "setup_cost", "setup_costs")


@dataclass(frozen=True)
class Costs:
    """Costs, and a price that the request asks about; None if not stated."""

    unit_cost: Decimal | None = None
    fixed_costs: Decimal | None = None
    asked_price: Decimal | None = None
    source: str = ""
    """Name of the table; empty if the request's own words were enough."""


def load_costs(request: str, materials: Mapping[str, str] | None) -> Costs:
    """Read the costs; the request takes precedence over a table.

    Raises:
        ToolRefused: a cost cannot be read, or is stated twice; or the request is too long.
    """
    text = " ".join(request.split())
    if len(text) > MAX_REQUEST_CHARS:
        raise ToolRefused(f"the request has {len(text)} characters, of at most {MAX_REQUEST_CHARS}")
    unit, fixed = _find_amount(_UNIT_COST_PATTERNS, text), _find_amount(_FIXED_COST_PATTERNS, text)
    asked = _find_amount(_ASKED_PRICE_PATTERNS, text)
    if asked == 0:
        raise ToolRefused("the request asks about a price of 0; name one above zero")
    table = _find_costs_table(materials) if unit is None or fixed is None else None
    if table is None:
        return Costs(unit, fixed, asked)
    listed = _read_costs(table)
    return Costs(
        listed.get("unit") if unit is None else unit,
        listed.get("fixed") if fixed is None else fixed,
        asked,
        table.name if listed else "",
    )


def _find_amount(patterns: tuple[str, ...], text: str) -> Decimal | None:
    found = {
        _parse_amount(match["n"])
        for pattern in patterns
        for match in Pattern(pattern, re.IGNORECASE).finditer(text)
    }
    if len(found) > 1:
        named = " and ".join(str(each) for each in sorted(found))
        raise ToolRefused(f"the request says {named} of the same cost or price; say one")
    return next(iter(found), None)


def _parse_amount(text: str) -> Decimal:
    value = parse_number(text, "point" if "," in text else "unknown")
    if value is None:
        raise ToolRefused(f"{text[:40]!r} in the request is not a number or is ambiguous")
    return value


def _find_costs_table(materials: Mapping[str, str] | None) -> CsvTable | None:
    fitting = [table.name for table in read_headers(materials) if _is_costs_table(table)]
    if len(fitting) > 1:
        raise ToolRefused(f"several materials look like costs: {', '.join(fitting)}; give one")
    return read_table(fitting[0], get_material_text(fitting[0], materials)) if fitting else None


def _is_costs_table(table: CsvTable) -> bool:
    return None not in (
        table.find_column(ITEM_COLUMNS),
        table.find_column(AMOUNT_COLUMNS),
    ) and not is_sales_table(table)


def _read_costs(table: CsvTable) -> dict[str, Decimal]:
    item, amount = table.find_column(ITEM_COLUMNS), table.find_column(AMOUNT_COLUMNS)
    assert item is not None and amount is not None, "a table of costs has both"
    kinds = dict.fromkeys(_UNIT_COST_NAMES, "unit") | dict.fromkeys(_FIXED_COST_NAMES, "fixed")
    found, defects = dict[str, Decimal](), TableDefects()
    for row in table.rows:
        kind, value = (
            kinds.get(normalize_column_name(row.cells[item])),
            table.parse_number(row.cells[amount]),
        )
        if kind is None:
            continue
        if value is None or value < 0:
            text = f"the amount, {quote_cell(row.cells[amount])}, is not a number or is ambiguous"
            defects.add_defect(text, table, row.line)
        elif kind in found:
            defects.add_defect(f"a second {kind} cost; add them up", table, row.line)
        else:
            found[kind] = value
    defects.raise_if_any()
    return found
