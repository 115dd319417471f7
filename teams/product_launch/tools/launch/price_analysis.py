"""Analyse a product at several prices: units, revenue, margin, break-even, and the best price."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.tables.formatting import build_finding, format_money, format_percent, format_table

from .costs import Costs
from .demand import Demand, fit_demand
from .optimal_price import (
    compute_break_even,
    compute_profit,
    find_optimal_price,
    find_price_interval,
)
from .sales import ProductSales

MODEL_CAVEAT = (
    "Expected units come from past sales at a constant elasticity; what rivals do when the price "
    "changes, and whether the launch market is like the one measured, is for a human to judge."
)


@dataclass(frozen=True)
class PriceAnalysis:
    """One product's sales, costs and demand."""

    sales: ProductSales
    costs: Costs
    demand: Demand | str

    @property
    def trusted_demand(self) -> Demand | None:
        """Return the demand if a price may be derived from it: significant, and falling."""
        demand = self.demand
        if isinstance(demand, str) or not demand.is_significant or demand.elasticity > 0:
            return None
        return demand

    @property
    def best_price(self) -> float | None:
        """Return the most profitable price within those tried, to the cent; None without one."""
        if self.trusted_demand is None or self.costs.unit_cost is None:
            return None
        found = find_optimal_price(
            self.trusted_demand, float(self.costs.unit_cost), *self._price_range
        )
        return found.price if found.range_end else round(found.price, 2)

    @property
    def _price_range(self) -> tuple[float, float]:
        return float(self.sales.lowest_price), float(self.sales.highest_price)

    @property
    def _median_price(self) -> float:
        return float(median(sale.price for sale in self.sales.rows))

    def describe_best_price(self) -> str:
        """Report the best price, its uncertainty, and whether the range of prices limits it."""
        if self.best_price is None or self.trusted_demand is None or self.costs.unit_cost is None:
            return ""
        unit_cost = float(self.costs.unit_cost)
        low, high = find_price_interval(self.trusted_demand, unit_cost, *self._price_range)
        line = (
            "The most profitable price within those tried "
            f"({self._format_money(self._price_range[0])} to "
            f"{self._format_money(self._price_range[1])}) is {self._format_money(self.best_price)}"
        )
        if round(low, 2) != round(high, 2):
            line += (
                f", between {self._format_money(low)} and {self._format_money(high)} over "
                "the elasticity's "
            )
            line += "95 percent interval"
        return f"{line}."

    def describe_costs(self) -> list[str]:
        """Report what was computed from the costs, at the relevant price."""
        if self.costs.unit_cost is None:
            return []
        price = self.best_price or self._median_price
        if self.costs.asked_price is not None:
            price = float(self.costs.asked_price)
        unit_cost = float(self.costs.unit_cost)
        at = f"At {self._format_money(price)} and a unit cost of {self._format_money(unit_cost)}"
        lines = [f"{at} the margin is {format_percent((price - unit_cost) / price, 1)} percent."]
        units = self._compute_break_even(price)
        if units is not None and self.costs.fixed_costs is not None:
            fixed = self._format_money(float(self.costs.fixed_costs))
            lines.append(f"{at} fixed costs of {fixed} are earned back with {units:,} units.")
        return lines

    def format_table(self) -> str:
        """Return a table of the relevant prices."""
        unit, span = f" {self.sales.currency}".rstrip(), self.sales.period_name
        columns = [f"price{unit}", "what it is", f"units a {span}", f"revenue{unit}", "margin %"]
        columns += [f"contribution a {span}{unit}", "break-even units", f"{span}s to break even"]
        return format_table(
            columns, [self._format_row(price, what) for price, what in self._list_prices()]
        )

    def list_remarks(self) -> list[str]:
        """Return what limits the best price, and how to read the table."""
        said = []
        if self.trusted_demand is not None and self.costs.unit_cost is not None:
            found = find_optimal_price(
                self.trusted_demand, float(self.costs.unit_cost), *self._price_range
            )
            if found.range_end:
                said.append(self._describe_range_end(found.range_end, found.unbounded_price))
        said += self.describe_costs()
        return said

    def list_findings(self) -> list[dict[str, Any]]:
        """Return the prices that do not even cover the unit cost."""
        found = []
        unit_cost = self.costs.unit_cost
        losing = [price for price, _ in self._list_prices() if unit_cost and price <= unit_cost]
        if losing:
            text = (
                "no unit earns anything at "
                f"{', '.join(map(self._format_money, sorted(set(losing))))}"
            )
            found.append(build_finding("high", f"{text}: it costs more", self.sales.source))
        return found

    def list_gaps(self) -> list[str]:
        """Return what is missing or was not derived."""
        gaps = []
        if isinstance(self.demand, str):
            gaps.append(f"No expected units and no best price: {self.demand}.")
        elif self.trusted_demand is None:
            why = "demand rises with the price" if self.demand.is_significant else "not significant"
            gaps.append(f"No expected units and no best price: the elasticity is {why}.")
        if self.costs.unit_cost is None:
            gaps.append("No margin, break-even or best price: the unit cost is not given.")
        if self.costs.fixed_costs is None:
            gaps.append("No break-even: fixed costs are not given.")
        asked = self.costs.asked_price
        if asked is not None and not self._price_range[0] <= asked <= self._price_range[1]:
            gaps.append(
                f"What sells at {self._format_money(float(asked))} is not known: only prices from "
                f"{self._format_money(self._price_range[0])} to "
                f"{self._format_money(self._price_range[1])} were tried."
            )
        return [*gaps, MODEL_CAVEAT]

    def _list_prices(self) -> list[tuple[float, str]]:
        named = [
            (self._price_range[0], "lowest tried"),
            (self._median_price, "middle of those tried"),
        ]
        named.append((self._price_range[1], "highest tried"))
        if self.costs.asked_price is not None:
            named.append((float(self.costs.asked_price), "asked about"))
        if self.best_price is not None:
            named.append((self.best_price, "**most profitable**"))
        merged: dict[float, str] = {}
        for price, what in named:
            merged[price] = f"{merged[price]}, {what}" if price in merged else what
        return sorted(merged.items())

    def _format_row(self, price: float, what: str) -> list[str]:
        demand, unit_cost = self.trusted_demand, self.costs.unit_cost
        is_tried = self._price_range[0] <= price <= self._price_range[1]
        units = demand.estimate_units(price) if demand and is_tried else None
        earned = None
        if demand and units is not None and unit_cost is not None:
            earned = compute_profit(demand, price, float(unit_cost))
        needed = self._compute_break_even(price)
        spans = ceil(needed / units) if needed is not None and units else None
        return [
            format_money(price),
            what,
            "" if units is None else f"{units:,.0f}",
            "" if units is None else format_money(price * units),
            "" if unit_cost is None else format_percent((price - float(unit_cost)) / price, 1),
            "" if earned is None else format_money(earned),
            "" if needed is None else f"{needed:,}",
            "" if spans is None else f"{spans:,}",
        ]

    def _compute_break_even(self, price: float) -> int | None:
        if self.costs.unit_cost is None or self.costs.fixed_costs is None:
            return None
        return compute_break_even(float(self.costs.fixed_costs), price, float(self.costs.unit_cost))

    def _describe_range_end(self, end: str, unbounded: float | None) -> str:
        beyond = (
            "profit would rise further"
            if unbounded is None
            else f"the best price would be {self._format_money(unbounded)}"
        )
        return (
            f"That is the {end} price that was tried. Along the fitted line {beyond}, but nothing "
            "was measured there."
        )

    def _format_money(self, amount: float) -> str:
        return f"{format_money(amount)} {self.sales.currency}".rstrip()


def build_price_analysis(
    groups: Sequence[ProductSales], costs: Costs, request: str
) -> PriceAnalysis:
    """Analyse the product that the request names.

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
    return PriceAnalysis(chosen[0], costs, fit_demand(chosen[0]))
