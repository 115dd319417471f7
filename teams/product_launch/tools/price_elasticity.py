"""Estimate how demand falls at a higher price."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolRefused
from nodes.tools.tables.formatting import (
    build_claim,
    build_finding,
    format_number,
    format_price,
    format_table,
)

from .launch.demand import Demand, fit_demand
from .launch.out_of_scope import reject_if_out_of_scope
from .launch.sales import ProductSales, load_sales

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
CAUSALITY_GAP = (
    "An elasticity from sales is not an experiment: season, advertising and rivals may have moved "
    "with the price. Whether it holds at launch is for a human to judge."
)
MIN_DURBIN_WATSON = 1.4


@tool
async def price_elasticity(
    request: str,
    sales: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Estimate the price elasticity of demand from sales, with its uncertainty.

    `request` is the user's request in its own words. Sales are a CSV artifact with a column of
    prices and one of units, found by its columns; name it in `sales` where several would fit. With
    a column such as product or market there is an estimate for each. The estimate has standard
    error, 95 percent interval, p, n and R squared, and states if it is not significantly different
    from zero.
    Example: price_elasticity(request="How price-sensitive is demand?", sales="sales.csv")
    """
    if elsewhere := reject_if_out_of_scope(request):
        return elsewhere
    return await asyncio.to_thread(_estimate_elasticities, materials, sales)


def _estimate_elasticities(materials: Mapping[str, str] | None, name: str) -> dict[str, Any]:
    fitted = [(sales, fit_demand(sales)) for sales in load_sales(materials, name)]
    done = [(sales, demand) for sales, demand in fitted if isinstance(demand, Demand)]
    gaps = [
        f"No elasticity{_format_group(sales)}: {problem}."
        for sales, problem in fitted
        if isinstance(problem, str)
    ]
    if not done:
        raise ToolRefused(f"{fitted[0][0].source}: {' '.join(gaps)}")
    gaps += [_describe_left_out_rows(sales) for sales, _ in done if sales.zero_sales_rows]
    rows = [_build_row(sales, demand) for sales, demand in done]
    first = "group" if any(sales.group for sales, _ in done) else "sales"
    columns = [first, "elasticity", "standard error", "95 % interval", "p", "n", "R²", "prices"]
    said = [_interpret_elasticity(sales, demand) for sales, demand in done]
    return {
        "summary": "\n\n".join([format_table(columns, rows), *said]),
        "claims": [
            build_claim(_build_claim_text(sales, demand), sales.source) for sales, demand in done
        ],
        "findings": [each for sales, demand in done for each in _build_findings(sales, demand)],
        "gaps": [*gaps, CAUSALITY_GAP],
    }


def _build_row(sales: ProductSales, demand: Demand) -> list[str]:
    return [
        sales.group or sales.source,
        f"{demand.elasticity:.2f}",
        f"{demand.standard_error:.2f}",
        f"{demand.interval_low:.2f} to {demand.interval_high:.2f}",
        _format_probability(demand),
        str(demand.row_count),
        f"{demand.r_squared:.2f}",
        _format_price_range(sales),
    ]


def _build_claim_text(sales: ProductSales, demand: Demand) -> str:
    return (
        f"The price elasticity of demand{_format_group(sales)} is {demand.elasticity:.2f}, "
        "standard error "
        f"{demand.standard_error:.2f}, n {demand.row_count}, R² {demand.r_squared:.2f}, at "
        "prices of "
        f"{_format_price_range(sales)}."
    )


def _interpret_elasticity(sales: ProductSales, demand: Demand) -> str:
    if not demand.is_significant:
        return (
            f"**Not significant{_format_group(sales)}**: p is {_format_probability(demand)}. "
            "These sales do not "
            "show whether the price moves demand; no price follows from them."
        )
    more = "fewer" if demand.elasticity < 0 else "more"
    line = (
        f"A price 1 percent higher goes with {abs(demand.elasticity):.2f} percent {more} "
        f"units{_format_group(sales)}"
    )
    if demand.elasticity > 0:
        return f"{line}."
    if demand.interval_high < -1:
        return f"{line}: demand is elastic, a lower price brings more revenue."
    if demand.interval_low > -1:
        return f"{line}: demand is inelastic, a higher price brings more revenue."
    return f"{line}; whether revenue rises or falls with the price is not settled."


def _build_findings(sales: ProductSales, demand: Demand) -> list[dict[str, Any]]:
    found = []
    if demand.is_significant and demand.elasticity > 0:
        text = f"demand rises with the price{_format_group(sales)}: something else moves both"
        found.append(build_finding("high", text, sales.source))
    if sales.is_chronological and demand.durbin_watson < MIN_DURBIN_WATSON:
        text = (
            f"rows that follow each other miss the line alike{_format_group(sales)} (Durbin-Watson "
            f"{demand.durbin_watson:.1f}): a trend or a season, and the standard error is too small"
        )
        found.append(build_finding("medium", text, sales.source))
    return found


def _describe_left_out_rows(sales: ProductSales) -> str:
    return (
        f"{sales.zero_sales_rows} rows without sales{_format_group(sales)} were left out: a "
        "logarithm cannot "
        "take them, and demand may be more elastic than it seems."
    )


def _format_price_range(sales: ProductSales) -> str:
    unit = f" {sales.currency}" if sales.currency else ""
    return f"{format_price(sales.lowest_price)} to {format_price(sales.highest_price)}{unit}"


def _format_group(sales: ProductSales) -> str:
    return f" of {sales.group}" if sales.group else ""


def _format_probability(demand: Demand) -> str:
    return "below 0.001" if demand.p_value < 0.001 else format_number(round(demand.p_value, 3))
