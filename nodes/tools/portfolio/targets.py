"""The weights a portfolio is to have: from the request, a table, or a rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from nodes.errors import ToolRefused
from nodes.tools.portfolio.holdings import TARGET, TICKER, Holdings, is_holdings, ticker
from nodes.tools.portfolio.terms import Method, Terms
from nodes.tools.tables.reading import Defects, Row, Table, shown

WEIGHT = (*TARGET, "weight", "weights", "percent", "percentage", "allocation", "share")
SLACK_PERCENT = Decimal("0.5")
"""Weights that sum to 100 but for rounding are scaled; others are refused."""


@dataclass
class Targets:
    """Weights as shares of one, cash included where it is named, and where they stand."""

    weights: dict[str, Decimal] = field(default_factory=dict)
    source: str = ""
    """Name of the material; empty for the request's own words."""
    method: Method | None = None
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.weights or self.method)


def is_targets(table: Table) -> bool:
    """Tell a table of target weights by its columns."""
    is_other = is_holdings(table) or table.column(("date",)) is not None
    return table.column(TICKER) is not None and table.column(WEIGHT) is not None and not is_other


def targets(terms: Terms, held: Holdings, table: Table | None, defects: Defects) -> Targets:
    """Find the target weights; those of the request outrank a table, a table a column.

    Raises:
        ToolRefused: they do not sum to 100 percent.
    """
    listed = _read(table, defects) if table else {}
    defects.check()
    if terms.method and not terms.weights:
        return Targets(method=terms.method)
    if terms.weights:
        found = _scaled(terms.weights, "the request", "")
        if listed:
            assert table is not None, "the listed weights stand in it"
            found.notes.append(f"The weights of the request were used, not those of {table.name}.")
        return found
    if listed:
        assert table is not None, "the listed weights stand in it"
        return _scaled(listed, table.name, table.name)
    return _scaled(held.targets, held.name, held.name) if held.targets else Targets()


def _read(table: Table, defects: Defects) -> dict[str, Decimal]:
    name_column, weight_column = table.column(TICKER), table.column(WEIGHT)
    assert name_column is not None and weight_column is not None, "it is a table of targets"
    found: dict[str, Decimal] = {}
    for row in table.rows:
        name, weight = ticker(row.cells[name_column]), _weight(table, row, weight_column)
        if name is None:
            defects.add(f"{shown(row.cells[name_column])} is no ticker", table, row.line)
        elif weight is None or weight < 0:
            text = f"the weight of {name}, {shown(row.cells[weight_column])}, is no share of 100"
            defects.add(text, table, row.line)
        elif name in found:
            defects.add(f"{name} has a second weight", table, row.line)
        else:
            found[name] = weight
    return found


def _weight(table: Table, row: Row, column: int) -> Decimal | None:
    return table.number(row.cells[column].removesuffix("%"))


def _scaled(given: Mapping[str, Decimal], where: str, source: str) -> Targets:
    total = sum(given.values(), Decimal(0))
    whole = Decimal(1) if total <= Decimal("1.5") else Decimal(100)
    if abs(total / whole - 1) > SLACK_PERCENT / 100:
        raise ToolRefused(
            f"the target weights of {where} sum to {_plain(total)}, not to {whole}; give a weight "
            "for each ticker, CASH included if cash is to be kept"
        )
    found = Targets({name: weight / total for name, weight in given.items()}, source)
    if total != whole:
        found.notes.append(
            f"The target weights of {where} sum to {_plain(total)} and were scaled to {whole}."
        )
    return found


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
