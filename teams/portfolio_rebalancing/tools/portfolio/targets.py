"""Resolve the target weights of a portfolio: as given, or from a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from extensions.tools.tables.formatting import format_number
from extensions.tools.tables.reader import CsvTable, TableDefects, quote_cell
from nodes.errors import ToolRefused

from .holdings import TICKER_COLUMNS, is_holdings_table, iterate_tickers, parse_ticker

TARGET_COLUMNS = ("target_weight", "target", "target_percent", "target_allocation", "weight_target")
_OTHER_COLUMNS = ("weight", "weights", "percent", "percentage", "allocation", "share")
WEIGHT_COLUMNS = (*TARGET_COLUMNS, *_OTHER_COLUMNS)
ROUNDING_TOLERANCE = Decimal("0.005")
"""Weights that sum to a whole but for rounding are scaled; others are refused."""


@dataclass(frozen=True)
class TargetWeights:
    """Weights as shares of one, cash included where it is named, and their source."""

    weights: Mapping[str, Decimal] = field(default_factory=dict)
    source: str = ""
    """Name of the material; empty if they were given."""
    notes: tuple[str, ...] = ()


def is_targets_table(table: CsvTable) -> bool:
    """Return whether a table has target weights, and is not one of holdings or prices."""
    has_both = None not in (table.find_column(TICKER_COLUMNS), table.find_column(WEIGHT_COLUMNS))
    return has_both and table.find_column(("date",)) is None and not is_holdings_table(table)


def resolve_targets(
    given: Mapping[str, float], table: CsvTable | None, defects: TableDefects
) -> TargetWeights:
    """Return the target weights; given ones take precedence over those of a table.

    Raises:
        ToolRefused: they do not sum to 100 percent, or are not those of tickers.
    """
    if given:
        notes = [f"The weights given were used, not those of {table.name}."] if table else []
        return _scale_weights(_name_weights(given), "", notes)
    weights = _read_weights(table, defects) if table else {}
    defects.raise_if_any()
    return _scale_weights(weights, table.name, []) if table and weights else TargetWeights()


def _name_weights(given: Mapping[str, float]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for text, percent in given.items():
        name = parse_ticker(text.strip(" ."))
        if name is None or name in found:
            problem = "is not a ticker" if name is None else "has a second weight"
            raise ToolRefused(f"target_weights_percent: {quote_cell(text)} {problem}")
        found[name] = Decimal(str(percent))
    return found


def _read_weights(table: CsvTable, defects: TableDefects) -> dict[str, Decimal]:
    column, found = table.find_column(WEIGHT_COLUMNS), dict[str, Decimal]()
    assert column is not None, "it is a table of targets"
    for row, name in iterate_tickers(table, defects):
        if name in found:
            defects.add_defect(f"{name} has a second weight", table, row.line)
        elif row.cells[column]:
            weight = defects.parse_amount(table, row, column, f"the weight of {name}")
            found[name] = weight or Decimal(0)
    return found


def _scale_weights(given: Mapping[str, Decimal], source: str, notes: list[str]) -> TargetWeights:
    total, where = sum(given.values(), Decimal(0)), source or "the call"
    whole = Decimal(1) if total <= Decimal("1.5") else Decimal(100)
    if abs(total / whole - 1) > ROUNDING_TOLERANCE:
        raise ToolRefused(
            f"the target weights of {where} sum to {format_number(total)}, not to {whole}; give a "
            "weight for each ticker, CASH included if cash is to be kept"
        )
    if total != whole:
        text = f"The target weights of {where} sum to {format_number(total)} and were scaled to "
        notes = [*notes, f"{text}{whole}."]
    return TargetWeights({n: each / total for n, each in given.items()}, source, tuple(notes))
