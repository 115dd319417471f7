"""What a unit costs and what must be earned back: from the request's words, else from a table."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.launch.sales import is_sales
from nodes.tools.materials import material_text
from nodes.tools.tables.numbers import number
from nodes.tools.tables.reading import Defects, Table, heads, plain_name, read_table, shown

ITEM = ("item", "cost", "name", "position", "kind")
AMOUNT = ("amount", "value", "amount_eur", "amount_usd", "amount_gbp", "eur", "usd", "gbp")
MAX_REQUEST_CHARS = 4_000

_NO_SHARE = r"(?!\d|[.,]\d| ?(?:%|per ?cent))"
_SIGN = r"(?:[€$£]|EUR|USD|GBP|CHF|euros?)?"
_MONEY = rf"{_SIGN} ?(?P<n>\d[\d,.]{{0,30}}\d|\d){_NO_SHARE} ?{_SIGN}"
_IS = r"(?: (?:of|is|are|at|about)){0,4} ?:? ?"
_UNIT = (
    rf"(?:unit|variable|marginal) costs?{_IS}{_MONEY}",
    rf"costs?(?: per (?:unit|piece))?(?: us)?{_IS}{_MONEY} ?(?:per|a|each|/) ?(?:unit|piece)",
    rf"cost per (?:unit|piece){_IS}{_MONEY}",
)
_FIXED = (
    rf"(?:fixed costs?|launch budget|set-?up costs?){_IS}{_MONEY}",
    rf"{_MONEY} ?(?:of |in )(?:fixed costs?|launch budget)",
)
_ASKED = (
    rf"(?:at|to|for) a price{_IS}{_MONEY}",
    r"(?:sell(?:ing)?|launch(?:ing)?|price[ds]?|pricing)(?: it| them)?(?: at| for| of| to) "
    rf"{_MONEY}",
)
_UNIT_NAMES = ("unit_cost", "unit_costs", "variable_cost", "variable_costs", "cost_per_unit")
_FIXED_NAMES = ("fixed_cost", "fixed_costs", "launch_budget", "setup_cost", "setup_costs")


@dataclass(frozen=True)
class Costs:
    """Costs, and a price that the request asks about; None where nobody says."""

    unit: Decimal | None = None
    fixed: Decimal | None = None
    asked: Decimal | None = None
    source: str = ""
    """Name of the table; empty when the request's own words were enough."""


def load_costs(request: str, materials: Mapping[str, str] | None) -> Costs:
    """Read the costs; the request outranks a table.

    Raises:
        ToolRefused: a cost cannot be read, or is said twice; or the request is too long.
    """
    text = " ".join(request.split())
    if len(text) > MAX_REQUEST_CHARS:
        raise ToolRefused(f"the request has {len(text)} characters, of at most {MAX_REQUEST_CHARS}")
    unit, fixed = _said(_UNIT, text), _said(_FIXED, text)
    asked = _said(_ASKED, text)
    if asked == 0:
        raise ToolRefused("the request asks about a price of 0; name one above zero")
    table = _table(materials) if unit is None or fixed is None else None
    if table is None:
        return Costs(unit, fixed, asked)
    listed = _listed(table)
    return Costs(
        listed.get("unit") if unit is None else unit,
        listed.get("fixed") if fixed is None else fixed,
        asked,
        table.name if listed else "",
    )


def _said(patterns: tuple[str, ...], text: str) -> Decimal | None:
    found = {
        _amount(match["n"])
        for pattern in patterns
        for match in Pattern(pattern, re.IGNORECASE).finditer(text)
    }
    if len(found) > 1:
        named = " and ".join(str(each) for each in sorted(found))
        raise ToolRefused(f"the request says {named} of the same cost or price; say one")
    return next(iter(found), None)


def _amount(text: str) -> Decimal:
    value = number(text, "point" if "," in text else "unknown")
    if value is None:
        raise ToolRefused(f"{text[:40]!r} in the request is no number that can be read in one way")
    return value


def _table(materials: Mapping[str, str] | None) -> Table | None:
    fitting = [table.name for table in heads(materials) if _is_costs(table)]
    if len(fitting) > 1:
        raise ToolRefused(f"several materials look like costs: {', '.join(fitting)}; give one")
    return read_table(fitting[0], material_text(fitting[0], materials)) if fitting else None


def _is_costs(table: Table) -> bool:
    return None not in (table.column(ITEM), table.column(AMOUNT)) and not is_sales(table)


def _listed(table: Table) -> dict[str, Decimal]:
    item, amount = table.column(ITEM), table.column(AMOUNT)
    assert item is not None and amount is not None, "a table of costs has both"
    kinds = dict.fromkeys(_UNIT_NAMES, "unit") | dict.fromkeys(_FIXED_NAMES, "fixed")
    found, defects = dict[str, Decimal](), Defects()
    for row in table.rows:
        kind, value = kinds.get(plain_name(row.cells[item])), table.number(row.cells[amount])
        if kind is None:
            continue
        if value is None or value < 0:
            text = f"the amount, {shown(row.cells[amount])}, is no number that can be read one way"
            defects.add(text, table, row.line)
        elif kind in found:
            defects.add(f"a second {kind} cost; add them up", table, row.line)
        else:
            found[kind] = value
    defects.check()
    return found
