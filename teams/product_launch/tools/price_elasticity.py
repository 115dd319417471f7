"""Estimate how demand falls at a higher price."""

from typing import Any

from langchain_core.tools import tool

from extensions.tools.tables.formatting import format_number, format_price
from extensions.tools.tables.reader import FileNames
from nodes.errors import ToolRefused
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import ToolReport

from .launch.demand import Demand, fit_demand
from .launch.sales import ProductSales, load_sales

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
CAUSALITY_GAP = (
    "An elasticity from sales is not an experiment: season, advertising and rivals may have moved "
    "with the price. Whether it holds at launch is for a human to judge."
)
MIN_DURBIN_WATSON = 1.4


@tool
def price_elasticity(files: FileNames = (), materials: Materials = None) -> dict[str, Any]:
    """Estimate the price elasticity of demand from sales, with its uncertainty.

    Sales are a CSV file with a column of prices and one of units, found by its columns. With a
    column such as product or market there is an estimate for each. The estimate has standard
    error, 95 percent interval, p, n and R squared, and states if it is not significant.
    Example: price_elasticity()
    """
    report, rows = ToolReport(), []
    groups = load_sales(materials, files)
    for sales in groups:
        demand = fit_demand(sales)
        if isinstance(demand, str):
            report.gaps.append(f"No elasticity{sales.of_group}: {demand}.")
            continue
        if sales.zero_sales_rows:
            report.gaps.append(
                f"{sales.zero_sales_rows} rows without sales{sales.of_group} were left out: a "
                "logarithm cannot take them, and demand may be more elastic than it seems."
            )
        rows.append([sales.group or sales.source, *_add_estimate(report, sales, demand)])
    if not rows:
        raise ToolRefused(f"{groups[0].source}: {' '.join(report.gaps)}")
    meanings, report.lines = report.lines, []
    columns = ["elasticity", "standard error", "95 % interval", "p", "n", "R²", "prices"]
    report.add_table(["sales of", *columns], rows)
    report.lines += meanings
    report.gaps.append(CAUSALITY_GAP)
    return report.to_json()


def _add_estimate(report: ToolReport, sales: ProductSales, demand: Demand) -> list[str]:
    """Add an estimate's claim, meaning and findings; return its row."""
    low, high = map(format_price, sales.tried)
    prices = f"{low} to {high} {sales.currency}".rstrip()
    figures = [f"{each:.2f}" for each in (demand.elasticity, demand.standard_error)]
    r_squared, p = f"{demand.r_squared:.2f}", format_number(round(demand.p_value, 3))
    p = "below 0.001" if demand.p_value < 0.001 else p
    report.add_claim(
        f"The price elasticity of demand{sales.of_group} is {figures[0]}, standard error "
        f"{figures[1]}, n {demand.row_count}, R² {r_squared}, at prices of {prices}.",
        sales.source,
    )
    report.lines.append(_describe_meaning(sales, demand, p) + "\n")
    if demand.is_significant and demand.elasticity > 0:
        text = f"demand rises with the price{sales.of_group}: something else moves both"
        report.add_finding("high", text, sales.source)
    if sales.period and demand.durbin_watson < MIN_DURBIN_WATSON:
        text = (
            f"rows that follow each other miss the line alike{sales.of_group} (Durbin-Watson "
            f"{demand.durbin_watson:.1f}): a trend or a season, and the standard error is too small"
        )
        report.add_finding("medium", text, sales.source)
    interval = f"{demand.interval_low:.2f} to {demand.interval_high:.2f}"
    return [*figures, interval, p, str(demand.row_count), r_squared, prices]


def _describe_meaning(sales: ProductSales, demand: Demand, p: str) -> str:
    if not demand.is_significant:
        return (
            f"**Not significant{sales.of_group}**: p is {p}. These sales do not show whether the "
            "price moves demand; no price follows from them."
        )
    more = "fewer" if demand.elasticity < 0 else "more"
    size = f"{abs(demand.elasticity):.2f} percent {more} units{sales.of_group}"
    meaning = "whether revenue rises or falls with the price is not settled"
    if demand.interval_high < -1:
        meaning = "demand is elastic, a lower price brings more revenue"
    elif demand.interval_low > -1:
        meaning = "demand is inelastic, a higher price brings more revenue"
    line = f"A price 1 percent higher goes with {size}"
    return f"{line}." if demand.elasticity > 0 else f"{line}: {meaning}."
