"""Resolve the target weights of a portfolio: as given, or from a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from nodes.errors import ToolRefused
from nodes.tools.tables.formatting import format_number
from nodes.tools.tables.reader import CsvTable, TableDefects, quote_cell

from .holdings import (
    TARGET_COLUMNS,
    TICKER_COLUMNS,
    Holdings,
    is_holdings_table,
    iterate_tickers,
    parse_ticker,
)

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
    """Return whether a table has target weights."""
    has_both = None not in (table.find_column(TICKER_COLUMNS), table.find_column(WEIGHT_COLUMNS))
    return has_both and table.find_column(("date",)) is None and not is_holdings_table(table)


def resolve_targets(
    given: Mapping[str, float], held: Holdings, table: CsvTable | None, defects: TableDefects
) -> TargetWeights:
    """Return the target weights; given ones take precedence over a table, a table over a column.

    Raises:
        ToolRefused: they do not sum to 100 percent, or are not those of tickers.
    """
    listed = _read_weights(table, defects) if table else {}
    defects.raise_if_any()
    if given:
        ignored = [table.name] if table else [held.name] * bool(held.targets)
        notes = [f"The weights given were used, not those of {name}." for name in ignored]
        return _scale_weights(_name_weights(given), "the call", "", notes)
    if table and listed:
        return _scale_weights(listed, table.name, table.name)
    return _scale_weights(held.targets, held.name, held.name) if held.targets else TargetWeights()


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
        weight = defects.parse_amount(table, row, column, f"the weight of {name}")
        if name in found:
            defects.add_defect(f"{name} has a second weight", table, row.line)
        elif weight is not None:
            found[name] = weight
    return found


def _scale_weights(
    given: Mapping[str, Decimal], where: str, source: str, notes: list[str] | None = None
) -> TargetWeights:
    total = sum(given.values(), Decimal(0))
    whole = Decimal(1) if total <= Decimal("1.5") else Decimal(100)
    if abs(total / whole - 1) > ROUNDING_TOLERANCE:
        raise ToolRefused(
            f"the target weights of {where} sum to {format_number(total)}, not to {whole}; give a "
            "weight for each ticker, CASH included if cash is to be kept"
        )
    remarks = list(notes or [])
    if total != whole:
        remarks.append(
            f"The target weights of {where} sum to {format_number(total)} and were scaled to "
            f"{whole}."
        )
    return TargetWeights({n: each / total for n, each in given.items()}, source, tuple(remarks))
