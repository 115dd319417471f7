"""Check and value holdings and prices."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.tables.formatting import (
    build_claim,
    format_money,
    format_number,
    format_percent,
    format_price,
    format_table,
)

from .portfolio.holdings import CASH
from .portfolio.out_of_scope import reject_if_out_of_scope
from .portfolio.portfolio import MaterialNames, Portfolio, load_portfolio
from .portfolio.report import build_report, format_currency_suffix

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def market_data(
    request: str,
    holdings: str = "",
    prices: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Check holdings and prices, and value each position at its last price.

    `request` is the user's request in its own words; a date in it is the date to value at. Holdings
    (ticker, quantity or value) and prices (date and a column for each ticker, or date, ticker,
    close) are CSV artifacts, found by their columns; name them where several would fit. Defects are
    refused with file and line. Currencies are not converted.
    Example: market_data(request="Value my portfolio as of 2025-05-30")
    """
    if elsewhere := reject_if_out_of_scope(request, materials):
        return elsewhere
    return await asyncio.to_thread(
        _value_portfolio, request, materials, MaterialNames(holdings=holdings, prices=prices)
    )


def _value_portfolio(
    request: str, materials: Mapping[str, str] | None, named: MaterialNames
) -> dict[str, Any]:
    book = load_portfolio(request, materials, named)
    currency = format_currency_suffix(book)
    held = {name: each for name, each in book.positions.items() if each.quantity}
    rows = [
        [
            name,
            format_number(each.quantity),
            format_price(each.price),
            str(each.priced_on),
            format_money(each.value),
            format_percent(book.compute_weight(name)),
        ]
        for name, each in held.items()
    ]
    rows.append(
        [CASH, "", "", "", format_money(book.cash), format_percent(book.compute_weight(CASH))]
    )
    rows.append(
        [
            "**total**",
            "",
            "",
            "",
            format_money(book.total_value),
            "100.00" if book.total_value else "0.00",
        ]
    )
    columns = ["ticker", "quantity", f"price{currency}", "of", f"value{currency}", "weight %"]
    worth = f"{format_money(book.total_value)}{currency} on {book.as_of}"
    claims = [build_claim(f"The portfolio is worth {worth}.", book.holdings_name)]
    claims += [
        build_claim(
            f"The last price of {name} is {format_price(each.price)}{currency}, of "
            f"{each.priced_on}.",
            book.prices.name,
        )
        for name, each in held.items()
    ]
    parts = [
        f"The portfolio is worth **{worth}**.",
        format_table(columns, rows),
        _describe_period(book),
    ]
    return build_report(book, parts, claims)


def _describe_period(book: Portfolio) -> str:
    days = sorted({day for name in book.positions for day in book.prices.series[name]})
    if len(days) == 1:
        return f"{book.prices.name} has one date, {days[0]}."
    return f"{book.prices.name} has {len(days)} dates, from {days[0]} to {days[-1]}."
