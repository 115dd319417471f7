"""A product at several prices: units, revenue, margin, break-even, and the best of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.launch.costs import Costs
from nodes.tools.launch.demand import Demand, fit
from nodes.tools.launch.optimum import break_even, interval, optimum, profit
from nodes.tools.launch.sales import Sales
from nodes.tools.tables.writing import finding, money, percent, table

MODEL = (
    "Expected units come from past sales at a constant elasticity; what rivals do when the price "
    "changes, and whether the launch market is like the one measured, is for a person to judge."
)


@dataclass(frozen=True)
class Offer:
    """One product's sales, costs and demand."""

    sales: Sales
    costs: Costs
    demand: Demand | str

    @property
    def trusted(self) -> Demand | None:
        """Give the demand if a price may be derived from it: significant, and falling."""
        demand = self.demand
        if isinstance(demand, str) or not demand.is_significant or demand.elasticity > 0:
            return None
        return demand

    @property
    def best(self) -> float | None:
        """Give the most profitable price within those tried, to the cent; None without one."""
        if self.trusted is None or self.costs.unit is None:
            return None
        found = optimum(self.trusted, float(self.costs.unit), *self._range)
        return found.price if found.end else round(found.price, 2)

    @property
    def _range(self) -> tuple[float, float]:
        return float(self.sales.lowest), float(self.sales.highest)

    @property
    def _middle(self) -> float:
        return float(median(sale.price for sale in self.sales.rows))

    def best_line(self) -> str:
        """Say the best price, its uncertainty, and whether the range of prices holds it back."""
        if self.best is None or self.trusted is None or self.costs.unit is None:
            return ""
        unit_cost = float(self.costs.unit)
        low, high = interval(self.trusted, unit_cost, *self._range)
        line = (
            f"The most profitable price within those tried ({self._money(self._range[0])} to "
            f"{self._money(self._range[1])}) is {self._money(self.best)}"
        )
        if round(low, 2) != round(high, 2):
            line += f", between {self._money(low)} and {self._money(high)} over the elasticity's "
            line += "95 percent interval"
        return f"{line}."

    def cost_lines(self) -> list[str]:
        """Say what was computed from the costs, at the price that matters."""
        if self.costs.unit is None:
            return []
        price = self.best or self._middle
        if self.costs.asked is not None:
            price = float(self.costs.asked)
        unit_cost = float(self.costs.unit)
        at = f"At {self._money(price)} and a unit cost of {self._money(unit_cost)}"
        lines = [f"{at} the margin is {percent((price - unit_cost) / price, 1)} percent."]
        units = self._break_even(price)
        if units is not None and self.costs.fixed is not None:
            fixed = self._money(float(self.costs.fixed))
            lines.append(f"{at} fixed costs of {fixed} are earned back with {units:,} units.")
        return lines

    def table(self) -> str:
        """Show the prices that matter side by side."""
        unit, span = f" {self.sales.currency}".rstrip(), self.sales.span
        columns = [f"price{unit}", "what it is", f"units a {span}", f"revenue{unit}", "margin %"]
        columns += [f"contribution a {span}{unit}", "break-even units", f"{span}s to break even"]
        return table(columns, [self._row(price, what) for price, what in self._prices()])

    def remarks(self) -> list[str]:
        """Say what holds the best price back, and how to read the table."""
        said = []
        if self.trusted is not None and self.costs.unit is not None:
            found = optimum(self.trusted, float(self.costs.unit), *self._range)
            if found.end:
                said.append(self._at_the_end(found.end, found.unbounded))
        said += self.cost_lines()
        return said

    def findings(self) -> list[dict[str, Any]]:
        """Find prices that do not even pay for the unit."""
        found = []
        unit_cost = self.costs.unit
        losing = [price for price, _ in self._prices() if unit_cost and price <= unit_cost]
        if losing:
            text = f"no unit earns anything at {', '.join(map(self._money, sorted(set(losing))))}"
            found.append(finding("high", f"{text}: it costs more", self.sales.source))
        return found

    def gaps(self) -> list[str]:
        """Name what is missing or was not derived."""
        gaps = []
        if isinstance(self.demand, str):
            gaps.append(f"No expected units and no best price: {self.demand}.")
        elif self.trusted is None:
            why = "demand rises with the price" if self.demand.is_significant else "not significant"
            gaps.append(f"No expected units and no best price: the elasticity is {why}.")
        if self.costs.unit is None:
            gaps.append("No margin, break-even or best price: the unit cost is not given.")
        if self.costs.fixed is None:
            gaps.append("No break-even: fixed costs are not given.")
        asked = self.costs.asked
        if asked is not None and not self._range[0] <= asked <= self._range[1]:
            gaps.append(
                f"What sells at {self._money(float(asked))} is not known: only prices from "
                f"{self._money(self._range[0])} to {self._money(self._range[1])} were tried."
            )
        return [*gaps, MODEL]

    def _prices(self) -> list[tuple[float, str]]:
        named = [(self._range[0], "lowest tried"), (self._middle, "middle of those tried")]
        named.append((self._range[1], "highest tried"))
        if self.costs.asked is not None:
            named.append((float(self.costs.asked), "asked about"))
        if self.best is not None:
            named.append((self.best, "**most profitable**"))
        merged: dict[float, str] = {}
        for price, what in named:
            merged[price] = f"{merged[price]}, {what}" if price in merged else what
        return sorted(merged.items())

    def _row(self, price: float, what: str) -> list[str]:
        demand, unit_cost = self.trusted, self.costs.unit
        is_tried = self._range[0] <= price <= self._range[1]
        units = demand.units(price) if demand and is_tried else None
        earned = None
        if demand and units is not None and unit_cost is not None:
            earned = profit(demand, price, float(unit_cost))
        needed = self._break_even(price)
        spans = ceil(needed / units) if needed is not None and units else None
        return [
            money(price),
            what,
            "" if units is None else f"{units:,.0f}",
            "" if units is None else money(price * units),
            "" if unit_cost is None else percent((price - float(unit_cost)) / price, 1),
            "" if earned is None else money(earned),
            "" if needed is None else f"{needed:,}",
            "" if spans is None else f"{spans:,}",
        ]

    def _break_even(self, price: float) -> int | None:
        if self.costs.unit is None or self.costs.fixed is None:
            return None
        return break_even(float(self.costs.fixed), price, float(self.costs.unit))

    def _at_the_end(self, end: str, unbounded: float | None) -> str:
        beyond = (
            "profit would rise further"
            if unbounded is None
            else f"the best price would be {self._money(unbounded)}"
        )
        return (
            f"That is the {end} price that was tried. Along the fitted line {beyond}, but nothing "
            "was measured there."
        )

    def _money(self, amount: float) -> str:
        return f"{money(amount)} {self.sales.currency}".rstrip()


def offer_of(groups: Sequence[Sales], costs: Costs, request: str) -> Offer:
    """Choose the product that the request names.

    Raises:
        ToolRefused: there are several, and it names none or more than one.
    """
    named = [sales for sales in groups if sales.group and sales.group.lower() in request.lower()]
    chosen = groups if len(groups) == 1 else named
    if len(chosen) != 1:
        known = ", ".join(sales.group or "unnamed" for sales in groups)
        raise ToolRefused(f"{groups[0].source} has several groups, {known}; name one of them")
    if not chosen[0].rows:
        raise ToolRefused(f"{groups[0].source} has no row in which something was sold")
    return Offer(chosen[0], costs, fit(chosen[0]))
