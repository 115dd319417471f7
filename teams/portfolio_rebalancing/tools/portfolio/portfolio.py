"""Load a portfolio from the materials of a task: positions with their prices, cash, and targets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.framework.materials import get_material_text
from nodes.tools.tables.reader import CsvTable, TableDefects, read_headers, read_table

from .data_issues import find_data_issues
from .holdings import (
    CASH,
    Holding,
    Holdings,
    Position,
    is_holdings_table,
    read_holdings,
)
from .prices import Prices, is_prices_table, read_prices
from .request_terms import RequestTerms, read_request_terms
from .targets import TargetWeights, is_targets_table, resolve_targets

QUANTITY_STEP = Decimal("0.000001")
"""Decimals of a quantity that was derived from a value."""


@dataclass(frozen=True)
class Portfolio:
    """A portfolio without defects: all of them have been refused before."""

    positions: dict[str, Position]
    """All that is held or a target; a position that is only a target has a quantity of zero."""
    cash: Decimal
    """Without the cash that the request adds."""
    terms: RequestTerms
    targets: TargetWeights
    prices: Prices
    holdings_name: str
    currency: str
    findings: tuple[dict[str, Any], ...]
    gaps: tuple[str, ...]

    @property
    def total_value(self) -> Decimal:
        """Return the total value, cash included."""
        return sum((each.value for each in self.positions.values()), self.cash)

    @property
    def as_of(self) -> date:
        """Return the latest date of a price that values a position."""
        return max(position.priced_on for position in self.positions.values())

    def compute_weight(self, name: str) -> Decimal:
        """Return the share of a position, or of cash, in the total."""
        amount = self.cash if name == CASH else self.positions[name].value
        return amount / self.total_value if self.total_value else Decimal(0)


@dataclass(frozen=True)
class MaterialNames:
    """Names of the materials to read; if empty, the material with matching columns is read."""

    holdings: str = ""
    prices: str = ""
    targets: str = ""


def load_portfolio(
    request: str, materials: Mapping[str, str] | None, named: MaterialNames
) -> Portfolio:
    """Read holdings, prices and targets, and refuse what cannot be used.

    Raises:
        ToolRefused: a table is missing or wrong; the message names the places.
    """
    terms, defects = read_request_terms(request), TableDefects()
    table = _require_table(
        materials, named.holdings, is_holdings_table, "holdings (ticker and quantity or value)"
    )
    held = read_holdings(table, defects)
    wanted_table = _find_table(materials, named.targets, is_targets_table, "target weights")
    wanted = resolve_targets(terms, held, wanted_table, defects)
    names = (held.positions.keys() | wanted.weights.keys()) - {CASH}
    if not names:
        raise ToolRefused(f"{held.name} holds cash alone, and no target weights are given")
    price_table = _require_table(
        materials,
        named.prices,
        lambda each: is_prices_table(each, names),
        "prices (date and a column for each ticker, or date, ticker and close)",
    )
    prices = read_prices(price_table, names, defects)
    _check_currency(held, prices, terms, defects, price_table)
    positions = _price_positions(held, names, prices, terms, defects, price_table)
    defects.raise_if_any()
    return Portfolio(
        positions=positions,
        cash=held.cash,
        terms=terms,
        targets=wanted,
        prices=prices,
        holdings_name=held.name,
        currency=next(iter({**held.currencies, **prices.currencies}), ""),
        findings=tuple(find_data_issues(held, prices, positions)),
        gaps=tuple(_list_gaps(held, prices, terms, wanted)),
    )


def _require_table(
    materials: Mapping[str, str] | None, name: str, fits: Callable[[CsvTable], bool], what: str
) -> CsvTable:
    found = _find_table(materials, name, fits, what)
    if found is None:
        known = ", ".join(materials or {}) or "none"
        raise ToolRefused(f"no CSV material is a table of {what}; materials of this task: {known}")
    return found


def _find_table(
    materials: Mapping[str, str] | None, name: str, fits: Callable[[CsvTable], bool], what: str
) -> CsvTable | None:
    if name:
        table = read_table(name, get_material_text(name, materials))
        if not fits(table):
            raise ToolRefused(f"{name} is not a table of {what}; it lacks the required columns")
        return table
    fitting = [table.name for table in read_headers(materials) if fits(table)]
    if len(fitting) > 1:
        raise ToolRefused(f"several materials look like {what}: {', '.join(fitting)}; name one")
    return read_table(fitting[0], get_material_text(fitting[0], materials)) if fitting else None


def _price_positions(
    held: Holdings,
    names: set[str],
    prices: Prices,
    terms: RequestTerms,
    defects: TableDefects,
    table: CsvTable,
) -> dict[str, Position]:
    found = {}
    for name in [*held.positions, *sorted(names - held.positions.keys())]:
        last = prices.find_last(name, terms.as_of)
        if last is None:
            when = f" on or before {terms.as_of}" if terms.as_of else ""
            defects.add_defect(f"there is no price of {name}{when}", table)
        else:
            holding = held.positions.get(name, Holding(0, Decimal(0), None))
            quantity = holding.quantity
            if quantity is None:
                quantity = ((holding.value or Decimal(0)) / last[1]).quantize(QUANTITY_STEP)
            found[name] = Position(quantity, last[1], last[0], holding.line)
    return found


def _check_currency(
    held: Holdings, prices: Prices, terms: RequestTerms, defects: TableDefects, table: CsvTable
) -> None:
    files = held.currencies.keys() | prices.currencies.keys()
    if len(held.currencies) == len(prices.currencies) == 1 and len(files) > 1:
        one, other = next(iter(held.currencies)), next(iter(prices.currencies))
        defects.add_defect(f"prices are in {other[:10]}, holdings in {one[:10]}; use one", table)
    foreign = terms.currencies - files
    if files and foreign:
        text = f"the request writes {', '.join(sorted(foreign))}, the files {', '.join(files)}"
        defects.add_defect(f"{text}; nothing is converted here", table)


def _list_gaps(
    held: Holdings, prices: Prices, terms: RequestTerms, wanted: TargetWeights
) -> list[str]:
    gaps = list(wanted.notes)
    if not held.currencies and not prices.currencies:
        gaps.append("No file names a currency: all amounts are taken to be in one.")
    gaps += [
        f"Not understood in the request, and not used: {text!r}." for text in terms.unread_figures
    ]
    return gaps
