"""Find the most profitable price of a product."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.tables.formatting import build_claim

from .launch.costs import load_costs
from .launch.out_of_scope import reject_if_out_of_scope
from .launch.price_analysis import build_price_analysis
from .launch.sales import load_sales

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def launch_price(
    request: str,
    sales: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Compute margin, break-even and the most profitable price within the prices that were tried.

    State costs in `request`, in plain words: "unit cost 9.80 EUR, fixed costs 24,000 EUR", and a
    price to look at: "at a price of 24.90". A CSV artifact with item and amount (unit_cost,
    fixed_costs) also works. Sales are a CSV artifact with columns of prices and units; with several
    products, name one. Nothing is extrapolated beyond the tried prices, and without a significant
    elasticity there is no best price: the answer states that.
    Example: launch_price(request="Best price at a unit cost of 9.80 and fixed costs of 24,000")
    """
    if elsewhere := reject_if_out_of_scope(request):
        return elsewhere
    return await asyncio.to_thread(_analyze_price, request, materials, sales)


def _analyze_price(request: str, materials: Mapping[str, str] | None, name: str) -> dict[str, Any]:
    offer = build_price_analysis(
        load_sales(materials, name), load_costs(request, materials), request
    )
    best = offer.describe_best_price()
    claims = [build_claim(best, offer.sales.source)] if best else []
    claims += [
        build_claim(line, offer.costs.source or offer.sales.source)
        for line in offer.describe_costs()
    ]
    return {
        "summary": "\n\n".join(filter(None, [best, offer.format_table(), *offer.list_remarks()])),
        "claims": claims,
        "findings": offer.list_findings(),
        "gaps": offer.list_gaps(),
    }
