"""Load a portfolio from the materials of a task: positions with their prices, cash, and targets."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial

from extensions.tools.tables.reader import TableDefects, find_table, require_table
from nodes.errors import ToolRefused
from nodes.tools.framework.tool_report import ToolReport, join_names

from .holdings import (
    CASH,
    TARGET_COLUMNS,
    Holding,
    Holdings,
    Prices,
    TargetWeights,
    is_holdings_table,
    is_prices_table,
    is_targets_table,
    read_holdings,
    read_prices,
    resolve_targets,
)

QUANTITY_STEP = Decimal("0.000001")
"""Decimals of a quantity that was derived from a value."""
STALE_AFTER = timedelta(days=7)
VALUE_TOLERANCE = Decimal("0.01")
"""Difference between a value in the file and quantity times price from which it is reported."""
ADVICE_DISCLAIMER = (
    "Not investment advice: this is arithmetic on the files given. Whether weights and trades suit "
    "their owner, with taxes, fees and aims, is for a human to judge."
)


@dataclass(frozen=True)
class Position:
    """A number of shares, and the last price of one."""

    quantity: Decimal
    price: Decimal
    priced_on: date

    @property
    def value(self) -> Decimal:
        """Return the value of the position."""
        return self.quantity * self.price


@dataclass(frozen=True)
class Portfolio:
    """A portfolio without defects: all of them have been refused before."""

    positions: dict[str, Position]
    """All that is held or a target; a position that is only a target has a quantity of zero."""
    held: Holdings
    prices: Prices
    targets: TargetWeights

    @property
    def cash(self) -> Decimal:
        """Return the cash that the table of holdings names."""
        return self.held.cash

    @property
    def unit(self) -> str:
        """Return the currency with a space before it; empty if no file names one."""
        return "".join(f" {name}" for name in {**self.held.currencies, **self.prices.currencies})

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

    def start_report(self) -> ToolReport:
        """Return a report that names what a reader of the figures should know of the files.

        One finding per kind, however many places it names: similar findings would be merged.
        """
        report = ToolReport(gaps=[*self.targets.notes])
        if not self.unit:
            report.gaps.append("No file names a currency: all amounts are taken to be in one.")
        report.gaps.append(ADVICE_DISCLAIMER)
        for text, places in (
            ("the value is not quantity times price, which is used", self._list_other_values()),
            (f"last prices older than others, of {self.as_of}", self._list_stale_prices()),
            ("changes that may be a split or a wrong price", self._list_jumps()),
        ):
            if named := list(places):
                source = self.held.name if "quantity" in text else self.prices.name
                report.add_finding("medium", f"{text}: {join_names(named)}", source)
        return report

    def _list_other_values(self) -> Iterator[str]:
        for name, holding in self.held.positions.items():
            if holding.quantity is not None and holding.value is not None:
                value = self.positions[name].value
                if abs(holding.value - value) > VALUE_TOLERANCE * max(value, Decimal(1)):
                    yield f"{name} (line {holding.line}) {holding.value}, not {value:.2f}"

    def _list_stale_prices(self) -> Iterator[str]:
        for name, each in self.positions.items():
            if self.as_of - each.priced_on > STALE_AFTER:
                line = self.prices.lines[name, each.priced_on]
                yield f"{name} (line {line}, {each.priced_on})"

    def _list_jumps(self) -> Iterator[str]:
        for name, day, change in self.prices.find_jumps(self.positions):
            yield f"{name} (line {self.prices.lines[name, day]}) {change:+.0%} to {day}"


def load_portfolio(
    materials: Mapping[str, str] | None,
    files: Iterable[str] = (),
    *,
    target_weights_percent: Mapping[str, float] | None = None,
    as_of: date | None = None,
    with_targets: bool = True,
) -> Portfolio:
    """Read holdings, prices and, if they are wanted, targets; refuse what cannot be used.

    Raises:
        ToolRefused: a table is missing or wrong; the message names the places.
    """
    find, defects, files = partial(require_table, materials), TableDefects(), list(files)
    what = "is a table of holdings (ticker and quantity or value)"
    held_table = find(what, is_holdings_table, files)
    held, targets = read_holdings(held_table, defects), TargetWeights()
    if with_targets:
        listed = find_table(materials, "is a table of target weights", is_targets_table, files)
        if listed is None and held_table.find_column(TARGET_COLUMNS) is not None:
            listed = held_table
        targets = resolve_targets(target_weights_percent or {}, listed, defects)
    names = (held.positions.keys() | targets.weights.keys()) - {CASH}
    if not names:
        raise ToolRefused(f"{held.name} holds cash alone, and no target weights are given")
    what = "is a table of prices (date and a column for each ticker, or date, ticker and close)"
    table = find(what, partial(is_prices_table, names=names), files)
    prices = read_prices(table, names, defects)
    if held.currencies and prices.currencies and held.currencies.keys() != prices.currencies.keys():
        one, other = "/".join(prices.currencies), "/".join(held.currencies)
        defects.add_defect(f"prices are in {one[:20]}, holdings in {other[:20]}; use one", table)
    positions = {}
    for name in [*held.positions, *sorted(names - held.positions.keys())]:
        if last := prices.find_last(name, as_of):
            holding = held.positions.get(name, Holding(0, Decimal(0), None))
            positions[name] = Position(_derive_quantity(holding, last[1]), last[1], last[0])
        else:
            when = f" on or before {as_of}" if as_of else ""
            defects.add_defect(f"there is no price of {name}{when}", table)
    defects.raise_if_any()
    return Portfolio(positions, held, prices, targets)


def _derive_quantity(holding: Holding, price: Decimal) -> Decimal:
    if holding.quantity is not None:
        return holding.quantity
    return ((holding.value or Decimal(0)) / price).quantize(QUANTITY_STEP)
