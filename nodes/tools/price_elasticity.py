"""How much less is sold at a higher price."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolRefused
from nodes.tools.launch.demand import Demand, fit
from nodes.tools.launch.sales import Sales, load_sales
from nodes.tools.launch.scope import aside
from nodes.tools.tables.writing import claim, count, finding, price, table

CAUSE = (
    "An elasticity from sales is no experiment: season, advertising and rivals may have moved with "
    "the price. Whether it holds at launch is for a person to judge."
)
MIN_DURBIN_WATSON = 1.4


@tool
async def price_elasticity(
    request: str,
    sales: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Estimate the price elasticity of demand from sales, with its uncertainty.

    `request` is what was asked, in its own words. Sales are a CSV artifact with a column of prices
    and one of units, found by its columns; name it in `sales` where several would fit. A column
    such as product or market makes an estimate for each. The estimate comes with standard error,
    95 percent interval, p, n and R squared, and says so when it cannot be told from zero.
    Example: price_elasticity(request="How price-sensitive is demand?", sales="sales.csv")
    """
    if elsewhere := aside(request):
        return elsewhere
    return await asyncio.to_thread(_estimated, materials, sales)


def _estimated(materials: Mapping[str, str] | None, name: str) -> dict[str, Any]:
    fitted = [(sales, fit(sales)) for sales in load_sales(materials, name)]
    done = [(sales, demand) for sales, demand in fitted if isinstance(demand, Demand)]
    gaps = [
        f"No elasticity{_of(sales)}: {problem}."
        for sales, problem in fitted
        if isinstance(problem, str)
    ]
    if not done:
        raise ToolRefused(f"{fitted[0][0].source}: {' '.join(gaps)}")
    gaps += [_left_out(sales) for sales, _ in done if sales.without_sales]
    rows = [_row(sales, demand) for sales, demand in done]
    first = "group" if any(sales.group for sales, _ in done) else "sales"
    columns = [first, "elasticity", "standard error", "95 % interval", "p", "n", "R²", "prices"]
    said = [_said(sales, demand) for sales, demand in done]
    return {
        "summary": "\n\n".join([table(columns, rows), *said]),
        "claims": [claim(_claim(sales, demand), sales.source) for sales, demand in done],
        "findings": [each for sales, demand in done for each in _findings(sales, demand)],
        "gaps": [*gaps, CAUSE],
    }


def _row(sales: Sales, demand: Demand) -> list[str]:
    return [
        sales.group or sales.source,
        f"{demand.elasticity:.2f}",
        f"{demand.error:.2f}",
        f"{demand.low:.2f} to {demand.high:.2f}",
        _probability(demand),
        str(demand.count),
        f"{demand.r_squared:.2f}",
        _range(sales),
    ]


def _claim(sales: Sales, demand: Demand) -> str:
    return (
        f"The price elasticity of demand{_of(sales)} is {demand.elasticity:.2f}, standard error "
        f"{demand.error:.2f}, n {demand.count}, R² {demand.r_squared:.2f}, at prices of "
        f"{_range(sales)}."
    )


def _said(sales: Sales, demand: Demand) -> str:
    if not demand.is_significant:
        return (
            f"**Not significant{_of(sales)}**: p is {_probability(demand)}. These sales do not "
            "tell whether the price moves demand; no price follows from them."
        )
    more = "fewer" if demand.elasticity < 0 else "more"
    line = (
        f"A price 1 percent higher goes with {abs(demand.elasticity):.2f} percent {more} "
        f"units{_of(sales)}"
    )
    if demand.elasticity > 0:
        return f"{line}."
    if demand.high < -1:
        return f"{line}: demand is elastic, a lower price brings more revenue."
    if demand.low > -1:
        return f"{line}: demand is inelastic, a higher price brings more revenue."
    return f"{line}; whether revenue rises or falls with the price is not settled."


def _findings(sales: Sales, demand: Demand) -> list[dict[str, Any]]:
    found = []
    if demand.is_significant and demand.elasticity > 0:
        text = f"demand rises with the price{_of(sales)}: something else moves both"
        found.append(finding("high", text, sales.source))
    if sales.is_in_order and demand.durbin_watson < MIN_DURBIN_WATSON:
        text = (
            f"rows that follow each other miss the line alike{_of(sales)} (Durbin-Watson "
            f"{demand.durbin_watson:.1f}): a trend or a season, and the standard error is too small"
        )
        found.append(finding("medium", text, sales.source))
    return found


def _left_out(sales: Sales) -> str:
    return (
        f"{sales.without_sales} rows without sales{_of(sales)} were left out: a logarithm cannot "
        "take them, and demand may be more elastic than it seems."
    )


def _range(sales: Sales) -> str:
    unit = f" {sales.currency}" if sales.currency else ""
    return f"{price(sales.lowest)} to {price(sales.highest)}{unit}"


def _of(sales: Sales) -> str:
    return f" of {sales.group}" if sales.group else ""


def _probability(demand: Demand) -> str:
    return "below 0.001" if demand.probability < 0.001 else count(round(demand.probability, 3))
