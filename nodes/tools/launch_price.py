"""What a product earns at which price."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.launch.costs import load_costs
from nodes.tools.launch.offer import offer_of
from nodes.tools.launch.sales import load_sales
from nodes.tools.launch.scope import aside
from nodes.tools.tables.writing import claim


@tool
async def launch_price(
    request: str,
    sales: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Work out margin, break-even and the most profitable price within the prices that were tried.

    Say costs in `request`, in plain words: "unit cost 9.80 EUR, fixed costs 24,000 EUR", and a
    price to look at: "at a price of 24.90". A CSV artifact with item and amount (unit_cost,
    fixed_costs) will do as well. Sales are a CSV artifact with columns of prices and units; with
    several products, name one. Nothing is extrapolated beyond the tried prices, and without a
    significant elasticity there is no best price: the answer says so.
    Example: launch_price(request="Best price at a unit cost of 9.80 and fixed costs of 24,000")
    """
    if elsewhere := aside(request):
        return elsewhere
    return await asyncio.to_thread(_priced, request, materials, sales)


def _priced(request: str, materials: Mapping[str, str] | None, name: str) -> dict[str, Any]:
    offer = offer_of(load_sales(materials, name), load_costs(request, materials), request)
    best = offer.best_line()
    claims = [claim(best, offer.sales.source)] if best else []
    claims += [claim(line, offer.costs.source or offer.sales.source) for line in offer.cost_lines()]
    return {
        "summary": "\n\n".join(filter(None, [best, offer.table(), *offer.remarks()])),
        "claims": claims,
        "findings": offer.findings(),
        "gaps": offer.gaps(),
    }
