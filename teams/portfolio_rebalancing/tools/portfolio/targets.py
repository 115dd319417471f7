"""Resolve the target weights of a portfolio: from the request, a table, or a rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from nodes.errors import ToolRefused
from nodes.tools.tables.reader import CsvRow, CsvTable, TableDefects, quote_cell

from .holdings import (
    TARGET_COLUMNS,
    TICKER_COLUMNS,
    Holdings,
    is_holdings_table,
    parse_ticker,
)
from .request_terms import RequestTerms, WeightMethod

WEIGHT_COLUMNS = (
    *TARGET_COLUMNS,
    "weight",
    "weights",
    "percent",
    "percentage",
    "allocation",
    "share",
)
ROUNDING_TOLERANCE_PERCENT = Decimal("0.5")
"""Weights that sum to 100 but for rounding are scaled; others are refused."""


@dataclass
class TargetWeights:
    """Weights as shares of one, cash included where it is named, and their source."""

    weights: dict[str, Decimal] = field(default_factory=dict)
    source: str = ""
    """Name of the material; empty for the request's own words."""
    method: WeightMethod | None = None
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.weights or self.method)


def is_targets_table(table: CsvTable) -> bool:
    """Return whether a table has target weights."""
    is_other = is_holdings_table(table) or table.find_column(("date",)) is not None
    return (
        table.find_column(TICKER_COLUMNS) is not None
        and table.find_column(WEIGHT_COLUMNS) is not None
        and not is_other
    )


def resolve_targets(
    terms: RequestTerms, held: Holdings, table: CsvTable | None, defects: TableDefects
) -> TargetWeights:
    """Return the target weights; the request takes precedence over a table, a table over a column.

    Raises:
        ToolRefused: they do not sum to 100 percent.
    """
    listed = _read_weights(table, defects) if table else {}
    defects.raise_if_any()
    if terms.method and not terms.weights:
        return TargetWeights(method=terms.method)
    if terms.weights:
        found = _scale_weights(terms.weights, "the request", "")
        if listed:
            assert table is not None, "the listed weights are in it"
            found.notes.append(f"The weights of the request were used, not those of {table.name}.")
        return found
    if listed:
        assert table is not None, "the listed weights are in it"
        return _scale_weights(listed, table.name, table.name)
    return _scale_weights(held.targets, held.name, held.name) if held.targets else TargetWeights()


def _read_weights(table: CsvTable, defects: TableDefects) -> dict[str, Decimal]:
    name_column, weight_column = (
        table.find_column(TICKER_COLUMNS),
        table.find_column(WEIGHT_COLUMNS),
    )
    assert name_column is not None and weight_column is not None, "it is a table of targets"
    found: dict[str, Decimal] = {}
    for row in table.rows:
        name, weight = (
            parse_ticker(row.cells[name_column]),
            _parse_weight(table, row, weight_column),
        )
        if name is None:
            defects.add_defect(
                f"{quote_cell(row.cells[name_column])} is not a ticker", table, row.line
            )
        elif weight is None or weight < 0:
            cell = quote_cell(row.cells[weight_column])
            text = f"the weight of {name}, {cell}, is not a share of 100"
            defects.add_defect(text, table, row.line)
        elif name in found:
            defects.add_defect(f"{name} has a second weight", table, row.line)
        else:
            found[name] = weight
    return found


def _parse_weight(table: CsvTable, row: CsvRow, column: int) -> Decimal | None:
    return table.parse_number(row.cells[column].removesuffix("%"))


def _scale_weights(given: Mapping[str, Decimal], where: str, source: str) -> TargetWeights:
    total = sum(given.values(), Decimal(0))
    whole = Decimal(1) if total <= Decimal("1.5") else Decimal(100)
    if abs(total / whole - 1) > ROUNDING_TOLERANCE_PERCENT / 100:
        raise ToolRefused(
            f"the target weights of {where} sum to {_format_number(total)}, not to {whole}; "
            "give a weight "
            "for each ticker, CASH included if cash is to be kept"
        )
    found = TargetWeights({name: weight / total for name, weight in given.items()}, source)
    if total != whole:
        found.notes.append(
            f"The target weights of {where} sum to {_format_number(total)} and were scaled "
            f"to {whole}."
        )
    return found


def _format_number(value: Decimal) -> str:
    return f"{value.normalize():f}"
