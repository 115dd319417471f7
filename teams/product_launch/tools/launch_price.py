"""Find the most profitable price of a product."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from extensions.tools.tables.formatting import format_money, format_percent
from extensions.tools.tables.reader import FileNames
from nodes.errors import ToolRefused
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import ToolReport

from .launch.demand import (
    Demand,
    compute_break_even,
    find_best_price,
    find_price_interval,
    fit_demand,
)
from .launch.sales import ProductSales, load_costs, load_sales

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MODEL_CAVEAT = (
    "Expected units come from past sales at a constant elasticity; what rivals do when the price "
    "changes, and whether the launch market is like the one measured, is for a human to judge."
)
Amount = Annotated[float, Field(ge=0, le=1e12)]


@dataclass(frozen=True)
class _Analysis:
    sales: ProductSales
    unit_cost: float | None
    fixed_costs: float | None
    costs_source: str
    asked_price: float | None
    demand: Demand | None
    """None if no price may be derived from it: not significant, or not falling."""

    @property
    def median_price(self) -> float:
        return median(sale.price for sale in self.sales.sold)

    def estimate_units(self, price: float) -> float:
        """Return the expected units; zero if they are not known."""
        lowest, highest = self.sales.tried
        is_known = self.demand and lowest <= price <= highest
        return self.demand.estimate_units(price) if self.demand and is_known else 0

    def compute_break_even(self, price: float) -> int | None:
        if self.unit_cost is None or self.fixed_costs is None:
            return None
        return compute_break_even(self.fixed_costs, price, self.unit_cost)


@tool
def launch_price(
    unit_cost_amount: Annotated[
        Amount | None, Field(description="Cost of one unit, in the currency of the sales")
    ] = None,
    fixed_cost_amount: Annotated[
        Amount | None, Field(description="Fixed costs to earn back, in the same currency")
    ] = None,
    price_amount: Annotated[
        Annotated[float, Field(gt=0, le=1e12)] | None, Field(description="A price to look at")
    ] = None,
    product: Annotated[
        str, Field(max_length=40, description="Product or market, where the sales have several")
    ] = "",
    files: FileNames = (),
    materials: Materials = None,
) -> dict[str, Any]:
    """Compute margin, break-even and the most profitable price within the prices that were tried.

    Sales are a CSV file with columns of prices and units; costs may be one with item and
    amount (unit_cost, fixed_costs). Nothing is extrapolated beyond the tried prices, and without a
    significant elasticity there is no best price: the answer states that.
    Example: launch_price(unit_cost_amount=9.8, fixed_cost_amount=24000, price_amount=24.9)
    """
    given = (unit_cost_amount, fixed_cost_amount)
    sales = _choose_product(load_sales(materials, files), product)
    *listed, source = load_costs(materials, files) if None in given else (None, None, "")
    unit, fixed = (b if a is None else a for a, b in zip(given, listed, strict=True))
    fit, report = fit_demand(sales), ToolReport()
    if problem := _find_problem(fit):
        report.gaps.append(f"No expected units and no best price: {problem}.")
    demand = None if problem or isinstance(fit, str) else fit
    found = _Analysis(sales, unit, fixed, source, price_amount, demand)
    best, remarks = _add_best_price(report, found)
    prices = _name_prices(found, best)
    _add_price_table(report, found, prices)
    report.lines += remarks
    _add_costs(report, found, price_amount or best or found.median_price)
    _add_gaps(report, found, prices)
    return report.to_json()


def _find_problem(fit: Demand | str) -> str:
    """Return why no price may be derived from a fit; empty if one may."""
    if isinstance(fit, str):
        return fit
    if not fit.is_significant:
        return "the elasticity is not significant"
    return "the elasticity is that demand rises with the price" if fit.elasticity > 0 else ""


def _choose_product(groups: Sequence[ProductSales], product: str) -> ProductSales:
    named = [sales for sales in groups if sales.group.lower() == product.strip().lower()]
    chosen = named if product or len(groups) > 1 else groups
    if len(chosen) != 1:
        known = ", ".join(sales.group or "unnamed" for sales in groups)
        raise ToolRefused(f"{groups[0].source} has several groups, {known}; name one of them")
    if not chosen[0].sold:
        raise ToolRefused(f"{chosen[0].source} has no row in which something was sold")
    return chosen[0]


def _add_best_price(report: ToolReport, found: _Analysis) -> tuple[float | None, list[str]]:
    """Add the best price and its uncertainty; return it, and what limits it."""
    if found.demand is None or found.unit_cost is None:
        return None, []
    show, (lowest, highest) = found.sales.format_money, found.sales.tried
    choice = find_best_price(found.demand.elasticity, found.unit_cost, lowest, highest)
    price = choice.price if choice.range_end else round(choice.price, 2)
    ends = find_price_interval(found.demand, found.unit_cost, lowest, highest)
    low, high = map(show, ends)
    line = f"The most profitable price within those tried ({show(lowest)} to {show(highest)}) is "
    line += show(price)
    if low != high:
        line += f", between {low} and {high} over the elasticity's 95 percent interval"
    report.lines.append(f"{line}.\n")
    report.add_claim(f"{line}.", found.sales.source)
    if not choice.range_end:
        return price, []
    best = choice.unbounded_price
    beyond = f"the best price would be {show(best)}" if best else "profit would rise further"
    return price, [
        f"That is the {choice.range_end} price that was tried. Along the fitted line {beyond}, but "
        "nothing was measured there.\n"
    ]


def _name_prices(found: _Analysis, best: float | None) -> dict[float, str]:
    """Return the prices to show in ascending order, and what each is."""
    lowest, highest = found.sales.tried
    named = {
        "lowest tried": lowest,
        "middle of those tried": found.median_price,
        "highest tried": highest,
        "asked about": found.asked_price,
        "**most profitable**": best,
    }
    prices = sorted({price for price in named.values() if price is not None})
    return {price: ", ".join(k for k, v in named.items() if v == price) for price in prices}


def _add_price_table(report: ToolReport, found: _Analysis, prices: Mapping[float, str]) -> None:
    rows: list[list[str]] = []
    for price, what in prices.items():
        units, needed = found.estimate_units(price), found.compute_break_even(price)
        row = [format_money(price), what, *[""] * 6]
        if units:
            row[2:4] = f"{units:,.0f}", format_money(price * units)
        if found.unit_cost is not None:
            margin = price - found.unit_cost
            row[4:6] = format_percent(margin / price, 1), format_money(margin * units)
            row[5] = row[5] if units else ""
        if needed is not None:
            row[6:] = f"{needed:,}", f"{ceil(needed / units):,}" if units else ""
        rows.append(row)
    span = found.sales.period.replace("date", "") or "row"
    unit = f" {found.sales.currency}".rstrip()
    columns = [f"price{unit}", "what it is", f"units a {span}", f"revenue{unit}", "margin %"]
    columns += [f"contribution a {span}{unit}", "break-even units", f"{span}s to break even"]
    report.add_table(columns, rows)


def _add_costs(report: ToolReport, found: _Analysis, price: float) -> None:
    """Add what follows from the costs at a price."""
    if found.unit_cost is None:
        return
    show, units = found.sales.format_money, found.compute_break_even(price)
    at = f"At {show(price)} and a unit cost of {show(found.unit_cost)}"
    lines = [f"{at} the margin is {format_percent((price - found.unit_cost) / price, 1)} percent."]
    if units is not None and found.fixed_costs is not None:
        fixed = show(found.fixed_costs)
        lines.append(f"{at} fixed costs of {fixed} are earned back with {units:,} units.")
    for line in lines:
        report.lines.append(f"{line}\n")
        report.add_claim(line, found.costs_source or found.sales.source)


def _add_gaps(report: ToolReport, found: _Analysis, prices: Iterable[float]) -> None:
    show, asked, (lowest, highest) = found.sales.format_money, found.asked_price, found.sales.tried
    if found.unit_cost is None:
        report.gaps.append("No margin, break-even or best price: the unit cost is not given.")
    elif losing := [show(price) for price in prices if price <= found.unit_cost]:
        text = f"no unit earns anything at {', '.join(losing)}: it costs more"
        report.add_finding("high", text, found.sales.source)
    if found.fixed_costs is None:
        report.gaps.append("No break-even: fixed costs are not given.")
    if asked is not None and not lowest <= asked <= highest:
        report.gaps.append(
            f"What sells at {show(asked)} is not known: only prices from {show(lowest)} to "
            f"{show(highest)} were tried."
        )
    report.gaps.append(MODEL_CAVEAT)
