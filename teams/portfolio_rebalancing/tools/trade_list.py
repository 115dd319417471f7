"""List the trades that bring a portfolio to its target weights."""

import asyncio
from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, Any, Literal

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from extensions.tools.tables.reader import FileNames, quote_cell
from nodes.errors import ToolRefused

from .portfolio.holdings import Amount, AsOf, Percent, TargetWeightsPercent, Tickers, parse_ticker
from .portfolio.portfolio import Portfolio, load_portfolio
from .portfolio.proposal import Proposal, TradeTerms, report_trades
from .portfolio.trades import TradePosition, TradeRules, plan_trades

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
FRACTION_LOT = Fraction(1, 10_000)


@tool
async def trade_list(
    target_weights_percent: TargetWeightsPercent = None,
    equal_weights: Annotated[
        bool, Field(description="Whether each position gets the same weight")
    ] = False,
    shares: Annotated[
        Literal["whole", "fractional"], Field(description="Whether parts of a share may be traded")
    ] = "whole",
    min_trade_amount: Annotated[
        Amount | None, Field(description="Smallest trade, in the currency of the files")
    ] = None,
    max_turnover_percent: Annotated[
        Percent | None,
        Field(description="Largest turnover (half of all bought and sold), of the portfolio"),
    ] = None,
    deposit_amount: Annotated[
        Amount | None, Field(description="New money to invest, in the currency of the files")
    ] = None,
    without_selling: Annotated[bool, Field(description="Whether nothing at all is sold")] = False,
    never_sell: Annotated[Tickers, Field(description="Tickers that are not sold")] = (),
    never_buy: Annotated[Tickers, Field(description="Tickers that are not bought")] = (),
    keep: Annotated[Tickers, Field(description="Tickers that are neither sold nor bought")] = (),
    as_of: AsOf = None,
    files: FileNames = (),
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """List the trades that bring a portfolio to its target weights; they sum to the cent.

    Holdings, prices and target weights (ticker, weight) are CSV files, found by their columns.
    The answer states the limits that it worked with.
    Example: trade_list(max_turnover_percent=20, min_trade_amount=250, never_sell=["GOLD"])
    """
    if equal_weights and target_weights_percent:
        raise ToolRefused("give target_weights_percent or equal_weights, not both")
    book = await asyncio.to_thread(
        load_portfolio,
        materials,
        files,
        target_weights_percent=target_weights_percent,
        as_of=as_of,
        with_targets=not equal_weights,
    )
    cap = max_turnover_percent
    terms = TradeTerms(
        rules=TradeRules(
            lot=FRACTION_LOT if shares == "fractional" else Fraction(1),
            min_trade=Fraction(str(min_trade_amount or 0)),
            max_turnover=None if cap is None else Fraction(str(cap)) / 100,
        ),
        equal_weights=equal_weights,
        deposit=Fraction(str(deposit_amount or 0)),
        unsold=_find_tickers(book.positions if without_selling else [*never_sell, *keep], book),
        unbought=_find_tickers([*never_buy, *keep], book),
    )
    return await asyncio.to_thread(_propose_trades, book, terms)


def _find_tickers(names: Iterable[str], book: Portfolio) -> frozenset[str]:
    found = {name: parse_ticker(name) for name in names}
    for name, ticker in found.items():
        if ticker not in book.positions:  # passing over it would trade what must not be traded
            known = ", ".join(sorted(book.positions)[:20])
            raise ToolRefused(f"{quote_cell(name)} is no ticker of the files; name one of {known}")
    return frozenset(filter(None, found.values()))


def _propose_trades(book: Portfolio, terms: TradeTerms) -> dict[str, Any]:
    weights = {name: Fraction(weight) for name, weight in book.targets.weights.items()}
    if terms.equal_weights:
        weights = dict.fromkeys(book.positions, Fraction(1, len(book.positions)))
    if not weights:
        raise ToolRefused(
            "there are no target weights: give a CSV file with ticker and weight, or "
            "target_weights_percent, or equal_weights"
        )
    if not (book.total_value or terms.deposit):
        raise ToolRefused(f"{book.held.name} is worth nothing, and there is no new money")
    positions = {
        name: TradePosition(
            quantity=Fraction(position.quantity),
            price=Fraction(position.price),
            weight=weights.get(name, Fraction(0)),
            may_sell=name not in terms.unsold,
            may_buy=name not in terms.unbought,
        )
        for name, position in book.positions.items()
    }
    trades = plan_trades(positions, Fraction(book.cash) + terms.deposit, terms.rules)
    return report_trades(Proposal(book, terms, weights, trades))
