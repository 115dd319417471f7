"""Holdings and prices, checked and valued."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.portfolio.book import Book, Named, load_book
from nodes.tools.portfolio.holdings import CASH
from nodes.tools.portfolio.scope import aside
from nodes.tools.portfolio.shown import answer, unit
from nodes.tools.tables.writing import claim, count, money, percent, price, table


@tool
async def market_data(
    request: str,
    holdings: str = "",
    prices: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Check holdings and prices, and value each position at its last price.

    `request` is what was asked, in its own words; a date in it is the date to value at. Holdings
    (ticker, quantity or value) and prices (date and a column for each ticker, or date, ticker,
    close) are CSV artifacts, found by their columns; name them where several would fit. Defects
    are refused with file and line. Nothing is converted between currencies.
    Example: market_data(request="Value my portfolio as of 2025-05-30")
    """
    if elsewhere := aside(request, materials):
        return elsewhere
    return await asyncio.to_thread(
        _valued, request, materials, Named(holdings=holdings, prices=prices)
    )


def _valued(request: str, materials: Mapping[str, str] | None, named: Named) -> dict[str, Any]:
    book = load_book(request, materials, named)
    currency = unit(book)
    held = {name: each for name, each in book.positions.items() if each.quantity}
    rows = [
        [
            name,
            count(each.quantity),
            price(each.price),
            str(each.priced_on),
            money(each.value),
            percent(book.weight(name)),
        ]
        for name, each in held.items()
    ]
    rows.append([CASH, "", "", "", money(book.cash), percent(book.weight(CASH))])
    rows.append(["**total**", "", "", "", money(book.value), "100.00" if book.value else "0.00"])
    columns = ["ticker", "quantity", f"price{currency}", "of", f"value{currency}", "weight %"]
    worth = f"{money(book.value)}{currency} on {book.as_of}"
    claims = [claim(f"The portfolio is worth {worth}.", book.holdings_name)]
    claims += [
        claim(
            f"The last price of {name} is {price(each.price)}{currency}, of {each.priced_on}.",
            book.prices.name,
        )
        for name, each in held.items()
    ]
    parts = [f"The portfolio is worth **{worth}**.", table(columns, rows), _period(book)]
    return answer(book, parts, claims)


def _period(book: Book) -> str:
    days = sorted({day for name in book.positions for day in book.prices.series[name]})
    if len(days) == 1:
        return f"{book.prices.name} has one date, {days[0]}."
    return f"{book.prices.name} has {len(days)} dates, from {days[0]} to {days[-1]}."
